import { randomUUID } from 'node:crypto';
import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../platform/db.ts';
import { nullable, number, queryRows, statement, text, texts } from '../platform/statement.ts';
import { retryOnce, onlyRow } from './retry-once.ts';
import type { ClaimInput, ClaimResult } from './types.ts';

const CLAIM = statement(
  'select * from claim_session($1, $2, $3, $4, $5)',
  {
    outcome: text<ClaimResult['outcome']>(),
    model: text<ModelId>(),
    reserved_ms: number(),
    allowed_origins: nullable(texts()),
  },
  { name: 'claim_session' },
);

/**
 * Spends the credential. The SQL function locks before it reads the clock, so exactly one caller wins.
 */
export async function claim(db: Queryable, input: ClaimInput): Promise<ClaimResult> {
  const attemptId = input.attemptId ?? randomUUID();
  const row = await retryOnce(async () => {
    const rows = await queryRows(db, CLAIM, [
      input.accountId,
      input.sessionId,
      attemptId,
      input.nodeId,
      input.nodeEpoch,
    ]);
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
