import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../platform/database/db.ts';
import { queryRows, statement, t, type RowOf } from '../platform/database/statement.ts';

export interface UsageDay {
  readonly date: string;
  readonly model: ModelId;
  readonly billableMs: number;
  readonly sessions: number;
}

/** Small enough to stay far below the statement's time limit. */
const BATCH = 20_000;
const BATCHES_MAX = 50;

const ROLL_UP = statement('select roll_up_usage_by_key($1, $2) as more', { more: t.boolean() });
const DAYS = statement(
  `select to_char(day, 'YYYY-MM-DD') as day, model, sum(billable_ms)::bigint as billable_ms,
    sum(sessions)::bigint as sessions
    from usage_by_key where account_id = $1 and day > (clock_timestamp() at time zone 'UTC')::date - $2::integer
    group by usage_by_key.day, model order by usage_by_key.day, model`,
  { day: t.text(), model: t.text<ModelId>(), billable_ms: t.number(), sessions: t.number() },
);
const BY_KEY = statement(
  `select to_char(u.day, 'YYYY-MM-DD') as day, u.model, nullif(u.key_id, '') as key_id, k.name as key_name,
    u.billable_ms, u.sessions
    from usage_by_key u left join api_keys k on k.id = u.key_id and k.account_id = u.account_id
    where u.account_id = $1 and u.day between $2::date and $3::date
    order by u.day desc, u.model, u.key_id limit $4`,
  {
    day: t.text(),
    model: t.text<ModelId>(),
    key_id: t.nullable(t.text()),
    key_name: t.nullable(t.text()),
    billable_ms: t.number(),
    sessions: t.number(),
  },
);
export type UsageRow = RowOf<typeof BY_KEY>;

/** Adds new ledger transactions to the daily sums. Returns false if there are too many for one request. */
async function rollUp(db: Queryable, accountId: string): Promise<boolean> {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const [row] = await queryRows(db, ROLL_UP, [accountId, BATCH]);
    if (row?.more !== true) return true;
  }
  return false;
}

/** Returns audio charged by UTC day and model. */
export async function usageByDay(
  db: Queryable,
  input: { accountId: string; days: number },
): Promise<UsageDay[]> {
  await rollUp(db, input.accountId);
  const rows = await queryRows(db, DAYS, [input.accountId, input.days]);
  return rows.map((row) => ({
    date: row.day,
    model: row.model,
    billableMs: row.billable_ms,
    sessions: row.sessions,
  }));
}

/** Returns audio charged by UTC day, model and key, newest first. Both days are included. */
export async function usageByKey(
  db: Queryable,
  input: { accountId: string; from: string; to: string; limit: number },
): Promise<{ readonly rows: readonly UsageRow[]; readonly isComplete: boolean }> {
  const isRolledUp = await rollUp(db, input.accountId);
  const { accountId, from, to, limit } = input;
  const rows = await queryRows(db, BY_KEY, [accountId, from, to, limit + 1]);
  return { rows: rows.slice(0, limit), isComplete: isRolledUp && rows.length <= limit };
}
