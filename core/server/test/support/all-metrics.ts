import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { EngineNodeProcess } from '@svc-asr/local/engine-node-process.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { startService } from '@svc-asr/testing/service/service.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { writeAuditMetrics } from '../../src/admin/audit-metrics.ts';
import type { Config } from '../../src/config.ts';
import type { Deps } from '../../src/deps.ts';
import { startEngine } from '../../src/gateway/start-engine.ts';
import { audit } from '../../src/ledger/reports/audit.ts';
import { createMetrics } from '../../src/platform/observe/metrics.ts';

/** Scrapes every kind of process while it runs. */
export async function scrapeEverything(): Promise<string> {
  const { certFile, keyFile } = await makeCertificate();
  const env = { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile };
  const metricsPort = await freePort();
  const [service, node] = await Promise.all([
    startService({ env }),
    EngineNodeProcess.start({ env: { METRICS_PORT: String(metricsPort) } }),
  ]);
  try {
    const local = { modelsDir: MODELS_DIR, children: 1, addresses: null };
    const scraped = await Promise.all([
      service.deps.metrics.registry.metrics(),
      scrapeEngine(service.deps, local),
      scrapeEngine(service.deps, { addresses: node.address }),
      fetch(`http://127.0.0.1:${metricsPort}/metrics`).then((response) => response.text()),
      scrapeAudit(service.deps),
      scrapeSharedLimits(),
    ]);
    return scraped.join('\n');
  } finally {
    await node.stop();
    await service.stop();
  }
}

async function scrapeEngine(deps: Deps, settings: Partial<Config['engine']>): Promise<string> {
  const metrics = createMetrics();
  const config = { ...deps.config, engine: { ...deps.config.engine, ...settings } };
  const engine = await startEngine({ log: deps.log, config, metrics });
  try {
    return await metrics.registry.metrics();
  } finally {
    await engine.close();
  }
}

async function scrapeAudit({ db }: Deps): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-audit-'));
  try {
    const file = join(folder, 'audit.prom');
    await writeAuditMetrics(file, await audit(db, { which: 'safety' }).catch(() => []));
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function scrapeSharedLimits(): Promise<string> {
  const metrics = createMetrics();
  metrics.observeSharedLimits({ isShared: true, fallbacks: 0 });
  return metrics.registry.metrics();
}

/** The names of the metrics in a scrape, with the type of each. */
export function metricTypes(scraped: string): ReadonlyMap<string, string> {
  const types = [...scraped.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Map(types.map(([, name = '', type = '']) => [name, type]));
}
