import type { LostSession } from '@svc-asr/protocol/lost-host.ts';
import type { Queryable } from '../platform/database/db.ts';
import { queryRow, queryRows, statement, t } from '../platform/database/statement.ts';
import type { Credentials } from './credentials.ts';

/** Sessions whose clients lost their connection and are back. */

const FIND = statement('select * from find_lost_audio($1, $2)', {
  session_id: t.text(),
  is_over: t.boolean(),
  lengths: t.nullable(t.texts()),
  digests: t.nullable(t.texts()),
});

/** What a lost session was charged for, unless another session has it already. */
export interface FoundSession {
  readonly sessionId: string;
  /** Until then it may still be charged. */
  readonly isOver: boolean;
  readonly lengths: readonly number[];
  readonly digests: readonly string[];
}

export async function findLostAudio(
  db: Queryable,
  accountId: string,
  sessionIds: readonly string[],
): Promise<FoundSession[]> {
  const rows = await queryRows(db, FIND, [accountId, sessionIds]);
  return rows.map((row) => ({
    sessionId: row.session_id,
    isOver: row.is_over,
    lengths: (row.lengths ?? []).map(Number),
    digests: row.digests ?? [],
  }));
}

const REQUEST = statement('select request_takeover($1, $2, $3) as requested', {
  requested: t.boolean(),
});

const EXPIRY = statement('select live_session_expiry($1, $2) as expires_at', {
  expires_at: t.nullable(t.timestamp()),
});

/**
 * Asks the node of a lost session to end it, and makes room for another one. Returns false unless the account has it open and the
 * caller proves that it was its own.
 */
export async function requestTakeover(
  { db, credentials }: { readonly db: Queryable; readonly credentials: Credentials },
  accountId: string,
  { id, proof }: LostSession,
): Promise<boolean> {
  const { expires_at: expiresAt } = await queryRow(db, EXPIRY, [accountId, id]);
  if (expiresAt === null) return false;
  const credential = { sessionId: id, accountId, expiresAtMs: expiresAt.getTime() };
  if (!credentials.proves(credential, proof)) return false;
  return (await queryRow(db, REQUEST, [accountId, id, proof])).requested;
}

const REQUESTED = statement(
  'select session_id, proof from session_takeovers where session_id = any($1)',
  { session_id: t.text(), proof: t.text() },
);

/** Returns the proofs of clients that are back, by session. */
export async function listTakeovers(
  db: Queryable,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await queryRows(db, REQUESTED, [sessionIds]);
  return new Map(rows.map((row) => [row.session_id, row.proof]));
}
