import { randomUUID } from 'node:crypto';
import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../platform/database/db.ts';
import { queryRow, statement, t } from '../platform/database/statement.ts';
import { retryOnce } from './retry-once.ts';
import type { ClaimInput, ClaimResult, GiveBackInput, GiveBackResult } from './types.ts';

const CLAIM = statement(
  'select * from claim_session($1, $2, $3, $4, $5)',
  {
    outcome: t.text<ClaimResult['outcome']>(),
    model: t.text<ModelId>(),
    reserved_ms: t.number(),
    allowed_origins: t.nullable(t.texts()),
  },
  { name: 'claim_session' },
);
const GIVE_BACK = statement('select give_back_session($1, $2, $3) as outcome', {
  outcome: t.text<GiveBackResult>(),
});

/**
 * Spends the credential. The SQL function locks before it reads the clock, so exactly one caller wins.
 */
export async function claim(db: Queryable, input: ClaimInput): Promise<ClaimResult> {
  const upgradeId = input.upgradeId ?? randomUUID();
  const row = await retryOnce(async () => {
    return queryRow(db, CLAIM, [
      input.accountId,
      input.sessionId,
      upgradeId,
      input.nodeId,
      input.nodeEpoch,
    ]);
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

/** Gives back a claim that opened no stream, whether or not it went through. The credential then opens one until it expires. */
export async function giveBack(db: Queryable, input: GiveBackInput): Promise<GiveBackResult> {
  const { accountId, sessionId, upgradeId } = input;
  return retryOnce(
    async () => (await queryRow(db, GIVE_BACK, [accountId, sessionId, upgradeId])).outcome,
  );
}
