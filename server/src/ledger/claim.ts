import { randomUUID } from 'node:crypto';
import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../db.ts';
import { askAgain, onlyRow } from './ask-again.ts';
import type { ClaimInput, ClaimResult } from './ledger.ts';

interface ClaimRow {
  readonly outcome: ClaimResult['outcome'];
  readonly model: ModelId;
  readonly reserved_ms: number;
  readonly allowed_origins: string[] | null;
}

/**
 * Spends the credential. The function locks, then reads the clock, then decides: one caller wins.
 */
export async function claim(db: Queryable, input: ClaimInput): Promise<ClaimResult> {
  const attemptId = input.attemptId ?? randomUUID();
  const row = await askAgain(async () => {
    const { rows } = await db.query<ClaimRow>({
      name: 'claim_session',
      text: 'select * from claim_session($1, $2, $3, $4, $5)',
      values: [input.accountId, input.sessionId, attemptId, input.nodeId, input.nodeEpoch],
    });
    return onlyRow(rows);
  });
  if (row.outcome !== 'claimed') return { outcome: row.outcome };
  return {
    outcome: 'claimed',
    session: {
      id: input.sessionId,
      accountId: input.accountId,
      model: row.model,
      reservedMs: row.reserved_ms,
      allowedOrigins: row.allowed_origins,
    },
  };
}
