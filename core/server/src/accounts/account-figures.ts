import type { Queryable } from '../platform/database/db.ts';
import { queryRows, statement, t } from '../platform/database/statement.ts';

const FIGURES = statement(
  `select a.id, charged_since(a.id, clock_timestamp() - interval '1 day') as day_ms,
      charged_since(a.id, clock_timestamp() - interval '7 days') as week_ms,
      (select count(*) from sessions s where s.account_id = a.id and s.status = 'failed'
        and s.completed_at > clock_timestamp() - interval '1 day') as failed,
      (select count(*) from sessions s where s.account_id = a.id and s.slot is not null) as live
    from accounts a where a.id = any ($1)`,
  { id: t.text(), day_ms: t.number(), week_ms: t.number(), failed: t.number(), live: t.number() },
);

export interface AccountFigures {
  /** Audio charged within 24 hours and within 7 days. */
  readonly dayMs: number;
  readonly weekMs: number;
  /** Sessions that failed within 24 hours, which is our fault. */
  readonly failed: number;
  /** Sessions that are reserved or active. */
  readonly live: number;
}

/** How much these accounts use the service, by id. */
export async function figuresOf(
  db: Queryable,
  ids: readonly string[],
): Promise<Map<string, AccountFigures>> {
  const rows = await queryRows(db, FIGURES, [ids]);
  return new Map(
    rows.map(({ id, day_ms, week_ms, failed, live }) => [
      id,
      { dayMs: day_ms, weekMs: week_ms, failed, live },
    ]),
  );
}
