import { createHash, randomUUID } from 'node:crypto';
import type { Queryable } from '../platform/database/db.ts';
import { queryRow, statement, t, type RowOf } from '../platform/database/statement.ts';
import { retryOnce } from './retry-once.ts';
import type { ReserveInput, ReserveResult } from './types.ts';

const CALL = 'reserve_session($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)';
const RESERVE_COLUMNS = statement(`select * from ${CALL}`, {
  outcome: t.text<ReserveResult['outcome']>(),
  replayed: t.boolean(),
  session_id: t.text(),
  websocket_url: t.text(),
  reserved_ms: t.number(),
  remaining_ms: t.number(),
  created_at: t.timestamp(),
  expires_at: t.timestamp(),
  blocker: t.text<'reserved' | 'active'>(),
  retry_after_ms: t.number(),
});
/** Returns one JSON column. Ten columns, described with every result, cost a third more to read. */
const RESERVE = statement(
  `select row_to_json(${CALL}) as answer`,
  { answer: t.json(RESERVE_COLUMNS) },
  { name: 'reserve_session' },
);
type ReserveRow = RowOf<typeof RESERVE>['answer'];

/**
 * Reserves credit, or returns the reason why not. The SQL function locks the account, so identical concurrent
 * requests get one reservation.
 */
export async function reserve(db: Queryable, input: ReserveInput): Promise<ReserveResult> {
  const sessionId = randomUUID();
  const hashes = idempotencyHashes(input);
  const row = await retryOnce(async (again) => {
    const { answer } = await queryRow(db, RESERVE, [
      input.accountId,
      sessionId,
      again,
      input.keyId,
      input.model,
      input.requestedMs,
      hashes?.key ?? null,
      hashes?.request ?? null,
      input.node?.id ?? null,
      input.node?.url ?? null,
    ]);
    return answer;
  });
  return toResult(row, input, sessionId);
}

/** An idempotency key may contain personal data, such as a customer's name, so only its hash is stored. */
function idempotencyHashes(input: ReserveInput): { key: Buffer; request: Buffer } | null {
  if (input.idempotencyKey === null) return null;
  // The request with defaults applied, so that spelling out a default doesn't change it.
  return {
    key: sha256(input.idempotencyKey),
    request: sha256(JSON.stringify([input.model, input.requestedMs])),
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function toResult(row: ReserveRow, input: ReserveInput, sessionId: string): ReserveResult {
  switch (row.outcome) {
    case 'reserved':
      return {
        outcome: 'reserved',
        // Our own retry may find the reservation of the first attempt. For the caller it is new.
        replayed: row.replayed && row.session_id !== sessionId,
        session: {
          id: row.session_id,
          accountId: input.accountId,
          model: input.model,
          websocketUrl: row.websocket_url,
          reservedMs: row.reserved_ms,
          remainingMs: row.remaining_ms,
          createdAt: new Date(row.created_at),
          expiresAt: new Date(row.expires_at),
        },
      };
    case 'concurrency_limit_exceeded':
      return { outcome: row.outcome, blocker: row.blocker, retryAfterMs: row.retry_after_ms };
    case 'idempotency_conflict':
    case 'insufficient_credits':
    case 'no_capacity':
    case 'account_moving':
    case 'account_inactive':
      return { outcome: row.outcome };
  }
}
