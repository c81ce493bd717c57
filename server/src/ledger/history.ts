import type { Queryable } from '../platform/db.ts';
import {
  nullable,
  number,
  queryRows,
  statement,
  text,
  timestamp,
  type Row,
  type RowOf,
} from '../platform/statement.ts';

const TRANSACTIONS = statement(
  `select seq, kind, available_ms, reserved_ms, consumed_ms, available_after_ms, session_id, actor, reason,
    created_at
    from txn where account_id = $1 order by seq desc limit $2`,
  {
    seq: number(),
    kind: text(),
    available_ms: number(),
    reserved_ms: number(),
    consumed_ms: number(),
    available_after_ms: number(),
    session_id: nullable(text()),
    actor: nullable(text()),
    reason: nullable(text()),
    created_at: timestamp(),
  },
);

/** One transaction as an operator reads it. */
export type TransactionRow = RowOf<typeof TRANSACTIONS>;

/** Newest first. */
export async function listTransactions(
  db: Queryable,
  input: { accountId: string; limit: number },
): Promise<TransactionRow[]> {
  return queryRows(db, TRANSACTIONS, [input.accountId, input.limit]);
}

const USAGE_OF_MONTH = statement(
  `select t.account_id, a.name, s.model, count(*) as sessions, sum(t.consumed_ms)::bigint as billable_ms
    from txn t join accounts a on a.id = t.account_id
      join sessions s on s.account_id = t.account_id and s.id = t.session_id
    where t.consumed_ms <> 0 and ($2::uuid is null or t.account_id = $2)
      and t.created_at >= ($1 || '-01')::timestamp at time zone 'UTC'
      and t.created_at < (($1 || '-01')::timestamp + interval '1 month') at time zone 'UTC'
    group by 1, 2, 3 order by 1, 3`,
  { account_id: text(), name: text(), model: text(), sessions: number(), billable_ms: number() },
);

/** Audio charged in a UTC month such as 2027-01, by account and model, as the ledger has it. */
export async function usageOfMonth(
  db: Queryable,
  input: { month: string; accountId: string | null },
): Promise<RowOf<typeof USAGE_OF_MONTH>[]> {
  return queryRows(db, USAGE_OF_MONTH, [input.month, input.accountId]);
}

const SESSION_COLUMNS = {
  id: text(),
  account_id: text(),
  status: text(),
  model: text(),
  reserved_ms: number(),
  audio_ms: number(),
  billable_ms: number(),
  key_id: nullable(text()),
  node_id: text(),
  node_epoch: nullable(number()),
  created_at: timestamp(),
  expires_at: timestamp(),
  claimed_at: nullable(timestamp()),
  completed_at: nullable(timestamp()),
};
const SESSION_FIELDS = `s.id, s.account_id, s.status, s.model, s.reserved_ms, s.audio_ms, s.billable_ms, s.key_id,
  s.node_id, s.node_epoch, s.created_at, s.expires_at, s.claimed_at, s.completed_at`;

/** One session as an operator reads it. */
export type SessionRow = Row<typeof SESSION_COLUMNS>;

const FIND_SESSION = statement(
  `select ${SESSION_FIELDS} from txn t join sessions s on s.account_id = t.account_id and s.id = t.session_id
    where t.session_id = $1 and t.kind = 'reserve'`,
  SESSION_COLUMNS,
);
const LIST_SESSIONS = statement(
  `select ${SESSION_FIELDS} from txn t join sessions s on s.account_id = t.account_id and s.id = t.session_id
    where t.account_id = $1 and t.kind = 'reserve' order by t.seq desc limit $2`,
  SESSION_COLUMNS,
);
const LIST_LIVE_SESSIONS = statement(
  `select ${SESSION_FIELDS} from sessions s where s.slot is not null order by s.created_at limit $1`,
  SESSION_COLUMNS,
);

/** Finds a session by its id alone. An index on the reservation's transaction gives the account. */
export async function findSession(db: Queryable, id: string): Promise<SessionRow | null> {
  const [row] = await queryRows(db, FIND_SESSION, [id]);
  return row ?? null;
}

const SESSION_IDS_BETWEEN = statement(
  `select s.id from txn t join sessions s on s.account_id = t.account_id and s.id = t.session_id
    where t.kind = 'reserve' and t.session_id between $1 and $2 limit 2`,
  { id: text() },
);

/** Up to two session ids of this range. */
export async function listSessionIds(
  db: Queryable,
  range: { from: string; to: string },
): Promise<string[]> {
  const rows = await queryRows(db, SESSION_IDS_BETWEEN, [range.from, range.to]);
  return rows.map((row) => row.id);
}

/** Newest first. Sessions are found through the account's reservations. */
export async function listSessions(
  db: Queryable,
  input: { accountId: string; limit: number },
): Promise<SessionRow[]> {
  return queryRows(db, LIST_SESSIONS, [input.accountId, input.limit]);
}

/** Everything that is reserved or active now, oldest first. */
export async function listLiveSessions(db: Queryable, limit: number): Promise<SessionRow[]> {
  return queryRows(db, LIST_LIVE_SESSIONS, [limit]);
}
