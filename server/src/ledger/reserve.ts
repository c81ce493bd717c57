import { createHash, randomUUID } from 'node:crypto';
import type { Queryable } from '../db.ts';
import { askAgain, onlyRow } from './ask-again.ts';
import type { ReserveInput, ReserveResult } from './ledger.ts';

interface ReserveRow {
  readonly outcome: ReserveResult['outcome'];
  readonly replayed: boolean;
  readonly session_id: string;
  readonly websocket_url: string;
  readonly reserved_ms: number;
  readonly remaining_ms: number;
  readonly created_at: string;
  readonly expires_at: string;
  readonly blocker: 'reserved' | 'active';
  readonly retry_after_ms: number;
}

/**
 * Sets credit aside, or says why not. The function locks the account, so twins at once get one
 * reservation.
 */
export async function reserve(db: Queryable, input: ReserveInput): Promise<ReserveResult> {
  const sessionId = randomUUID();
  const hashes = idempotencyHashes(input);
  const row = await askAgain(async (again) => {
    const { rows } = await db.query<{ answer: ReserveRow }>({
      name: 'reserve_session',
      // One column of JSON: ten of them, described anew with every answer, cost a third more to read.
      text: 'select row_to_json(reserve_session($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)) as answer',
      values: [
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
      ],
    });
    return onlyRow(rows).answer;
  });
  return toResult(row, input, sessionId);
}

/** A key may carry what its maker likes, a customer's name for example: only its hash is kept. */
function idempotencyHashes(input: ReserveInput): { key: Buffer; request: Buffer } | null {
  if (input.idempotencyKey === null) return null;
  // The request after its defaults: the same wish spelled out is the same request.
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
        // Our own lost answer, found again, is news to the caller.
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
    case 'account_inactive':
      return { outcome: row.outcome };
  }
}
