import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t, type RowOf } from '../../platform/database/statement.ts';
import type { Finding } from './audit.ts';

/** Stores the result of an audit for the operators' pages. Rows that broke an invariant are counted, not stored. */
export async function recordAudit(
  db: Queryable,
  input: { findings: readonly Finding[]; which: 'all' | 'safety' },
): Promise<void> {
  const rows = input.findings.map(({ invariant, violations, tookMs }) => ({
    invariant: invariant.name,
    about: invariant.about,
    took_ms: Math.round(tookMs),
    violations: violations.length,
  }));
  await db.query('select record_audit($1, $2)', [JSON.stringify(rows), input.which === 'all']);
}

const RUNS = statement(
  'select invariant, about, ran_at, took_ms, violations from ledger_audits order by violations = 0, invariant',
  {
    invariant: t.text(),
    about: t.text(),
    ran_at: t.timestamp(),
    took_ms: t.number(),
    violations: t.number(),
  },
);

/** The last run of each invariant, broken ones first. */
export async function listAuditRuns(db: Queryable): Promise<RowOf<typeof RUNS>[]> {
  return queryRows(db, RUNS);
}
