import type { Queryable } from '../db.ts';

/** One transaction as an operator reads it. */
export type TransactionRow = Readonly<{
  seq: number;
  kind: string;
  available_ms: number;
  reserved_ms: number;
  consumed_ms: number;
  available_after_ms: number;
  session_id: string | null;
  actor: string | null;
  reason: string | null;
  created_at: Date;
}>;

/** Newest first. */
export async function listTransactions(
  db: Queryable,
  input: { accountId: string; limit: number },
): Promise<TransactionRow[]> {
  const { rows } = await db.query<TransactionRow>(
    `select seq, kind, available_ms, reserved_ms, consumed_ms, available_after_ms, session_id, actor, reason,
      created_at
      from txn where account_id = $1 order by seq desc limit $2`,
    [input.accountId, input.limit],
  );
  return rows;
}

/** One session as an operator reads it. */
export type SessionRow = Readonly<{
  id: string;
  account_id: string;
  status: string;
  model: string;
  reserved_ms: number;
  audio_ms: number;
  billable_ms: number;
  key_id: string | null;
  node_id: string;
  node_epoch: number | null;
  created_at: Date;
  expires_at: Date;
  claimed_at: Date | null;
  completed_at: Date | null;
}>;

const SESSION_COLUMNS = `s.id, s.account_id, s.status, s.model, s.reserved_ms, s.audio_ms, s.billable_ms, s.key_id,
  s.node_id, s.node_epoch, s.created_at, s.expires_at, s.claimed_at, s.completed_at`;

/** By its id alone: the reservation's transaction, found by an index, names the account. */
export async function findSession(db: Queryable, id: string): Promise<SessionRow | null> {
  const { rows } = await db.query<SessionRow>(
    `select ${SESSION_COLUMNS} from txn t join sessions s on s.account_id = t.account_id and s.id = t.session_id
      where t.session_id = $1 and t.kind = 'reserve'`,
    [id],
  );
  return rows[0] ?? null;
}

/** Newest first: the account's reservations are the index to its sessions. */
export async function listSessions(
  db: Queryable,
  input: { accountId: string; limit: number },
): Promise<SessionRow[]> {
  const { rows } = await db.query<SessionRow>(
    `select ${SESSION_COLUMNS} from txn t join sessions s on s.account_id = t.account_id and s.id = t.session_id
      where t.account_id = $1 and t.kind = 'reserve' order by t.seq desc limit $2`,
    [input.accountId, input.limit],
  );
  return rows;
}

/** Everything that is reserved or active now, oldest first. */
export async function listLiveSessions(db: Queryable, limit: number): Promise<SessionRow[]> {
  const { rows } = await db.query<SessionRow>(
    `select ${SESSION_COLUMNS} from sessions s where s.slot is not null order by s.created_at limit $1`,
    [limit],
  );
  return rows;
}
