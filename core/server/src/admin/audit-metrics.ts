import { rename, writeFile } from 'node:fs/promises';
import { Gauge, Registry } from 'prom-client';
import type { Finding } from '../ledger/reports/audit.ts';

/** Writes the result of an audit in Prometheus' format. The file is replaced atomically. */
export async function writeAuditMetrics(path: string, findings: readonly Finding[]): Promise<void> {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'svc_ledger_audit_timestamp_seconds',
    help: 'When svc-admin audit --metrics-file last ran.',
    registers,
  }).setToCurrentTime();
  new Gauge({
    name: 'svc_ledger_audit_seconds',
    help: 'How long the last audit took.',
    registers,
  }).set(findings.reduce((sum, { tookMs }) => sum + tookMs, 0) / 1000);
  const violations = new Gauge({
    name: 'svc_ledger_audit_violations',
    help: 'Rows that broke an invariant in the last audit, at most 20 for each invariant. Anything but 0 is serious.',
    labelNames: ['invariant'],
    registers,
  });
  for (const { invariant, violations: rows } of findings) {
    violations.set({ invariant: invariant.name }, rows.length);
  }
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, await registry.metrics());
  await rename(unfinished, path);
}
