import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../platform/db.ts';
import { boolean, number, queryRows, statement, text } from '../platform/statement.ts';

export interface UsageDay {
  readonly date: string;
  readonly model: ModelId;
  readonly billableMs: number;
  readonly sessions: number;
}

/** Small enough to stay far below the statement's time limit. */
const BATCH = 20_000;
const BATCHES_MAX = 50;

const ROLL_UP = statement('select roll_up_usage($1, $2) as more', { more: boolean() });
const DAYS = statement(
  `select to_char(day, 'YYYY-MM-DD') as day, model, billable_ms, sessions from usage_days
    where account_id = $1 and day > (clock_timestamp() at time zone 'UTC')::date - $2::integer
    order by day, model`,
  { day: text(), model: text<ModelId>(), billable_ms: number(), sessions: number() },
);

/**
 * Returns audio charged by UTC day and model. First updates the daily sums with new ledger
 * transactions.
 */
export async function usageByDay(
  db: Queryable,
  input: { accountId: string; days: number },
): Promise<UsageDay[]> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const [row] = await queryRows(db, ROLL_UP, [input.accountId, BATCH]);
    if (row?.more !== true) break;
  }
  const rows = await queryRows(db, DAYS, [input.accountId, input.days]);
  return rows.map((row) => ({
    date: row.day,
    model: row.model,
    billableMs: row.billable_ms,
    sessions: row.sessions,
  }));
}
