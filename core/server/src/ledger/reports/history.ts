import type { SessionStatus } from '@svc-asr/protocol/usage.ts';
import type { Queryable } from '../../platform/database/db.ts';
import {
  queryRows,
  statement,
  t,
  type Row,
  type RowOf,
} from '../../platform/database/statement.ts';

const TRANSACTIONS = statement(
  `select seq, kind, available_ms, reserved_ms, consumed_ms, available_after_ms, session_id, actor, reason,
    created_at
    from txn where account_id = $1 order by seq desc limit $2`,
  {
    seq: t.number(),
    kind: t.text(),
    available_ms: t.number(),
    reserved_ms: t.number(),
    consumed_ms: t.number(),
    available_after_ms: t.number(),
    session_id: t.nullable(t.text()),
    actor: t.nullable(t.text()),
    reason: t.nullable(t.text()),
    created_at: t.timestamp(),
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
  {
    account_id: t.text(),
    name: t.text(),
    model: t.text(),
    sessions: t.number(),
    billable_ms: t.number(),
  },
);

/** Audio charged in a UTC month such as 2027-01, by account and model, as the ledger has it. */
export async function usageOfMonth(
  db: Queryable,
  input: { month: string; accountId: string | null },
): Promise<RowOf<typeof USAGE_OF_MONTH>[]> {
  return queryRows(db, USAGE_OF_MONTH, [input.month, input.accountId]);
}

const SESSION_COLUMNS = {
  id: t.text(),
  account_id: t.text(),
  status: t.text(),
  model: t.text(),
  reserved_ms: t.number(),
  audio_ms: t.number(),
  billable_ms: t.number(),
  key_id: t.nullable(t.text()),
  node_id: t.text(),
  node_epoch: t.nullable(t.number()),
  created_at: t.timestamp(),
  expires_at: t.timestamp(),
  claimed_at: t.nullable(t.timestamp()),
  completed_at: t.nullable(t.timestamp()),
};
const SESSION_FIELDS = `s.id, s.account_id, s.status, s.model, s.reserved_ms, s.audio_ms, s.billable_ms, s.key_id,
  s.node_id, s.node_epoch, s.created_at, s.expires_at, s.claimed_at, s.completed_at`;

/** One session as an operator reads it. */
export type SessionRow = Row<typeof SESSION_COLUMNS>;

const FIND_SESSION = statement(
  `select ${SESSION_FIELDS}, d.close_code, d.close_reason, d.client
    from txn t join sessions s on s.account_id = t.account_id and s.id = t.session_id
      left join session_details d on d.account_id = s.account_id and d.session_id = s.id
    where t.session_id = $1 and t.kind = 'reserve'`,
  {
    ...SESSION_COLUMNS,
    status: t.text<SessionStatus>(),
    close_code: t.nullable(t.number()),
    close_reason: t.nullable(t.text()),
    client: t.nullable(t.text()),
  },
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
export async function findSession(
  db: Queryable,
  id: string,
): Promise<RowOf<typeof FIND_SESSION> | null> {
  const [row] = await queryRows(db, FIND_SESSION, [id]);
  return row ?? null;
}

const SESSION_IDS_BETWEEN = statement(
  `select s.id from txn t join sessions s on s.account_id = t.account_id and s.id = t.session_id
    where t.kind = 'reserve' and t.session_id between $1 and $2 limit 2`,
  { id: t.text() },
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
