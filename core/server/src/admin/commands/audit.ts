import type { Command } from 'commander';
import { audit } from '../../ledger/reports/audit.ts';
import { recordAudit } from '../../ledger/reports/audit-runs.ts';
import type { RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { EXIT } from '../problem.ts';

export function addAuditCommand(program: Command, run: RunCommand): void {
  const command = program
    .command('audit')
    .description('check every invariant of the ledger; exit status 1 when one does not hold')
    .option('--safety', 'skip invariants that hold only while a sweeper runs')
    .option('--metrics-file <file>', "write the result for node_exporter's textfile collector")
    .action((options: { safety?: true; metricsFile?: string }) =>
      run(async ({ db, output }) => {
        const which = options.safety ? 'safety' : 'all';
        const findings = await audit(db, { which });
        await recordAudit(db, { findings, which });
        output.show(
          findings.map(({ invariant, violations, tookMs }) => ({
            invariant: invariant.name,
            holds: violations.length === 0,
            violations: violations.length,
            took_ms: Math.round(tookMs),
          })),
        );
        if (options.metricsFile !== undefined) {
          const { writeAuditMetrics } = await import('../audit-metrics.ts');
          await writeAuditMetrics(options.metricsFile, findings);
        }
        const broken = findings.filter(({ violations }) => violations.length > 0);
        for (const { invariant, violations } of broken) {
          output.say(`\n${invariant.name}: ${invariant.about}`);
          for (const row of violations) output.say(`  ${JSON.stringify(row)}`);
        }
        if (broken.length === 0) output.say('Every invariant holds.');
        return broken.length === 0 ? EXIT.done : EXIT.refused;
      }, 'svc_auditor'),
    );
  examples(command, [
    'audit',
    'audit --safety --json',
    'audit --metrics-file /var/lib/prometheus/node-exporter/svc-audit.prom',
  ]);
}
