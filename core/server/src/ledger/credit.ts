import type { Queryable } from '../platform/database/db.ts';
import { queryRow, statement, t } from '../platform/database/statement.ts';
import { retryOnce } from './retry-once.ts';
import type { CreditInput, CreditResult } from './types.ts';

const CREDIT_COLUMNS = {
  outcome: t.text<CreditResult['outcome']>(),
  replayed: t.boolean(),
  seq: t.number(),
  available_ms: t.number(),
};
const GRANT = statement('select * from grant_credit($1, $2, $3, $4, $5)', CREDIT_COLUMNS);
const ADJUST = statement('select * from adjust_credit($1, $2, $3, $4, $5)', CREDIT_COLUMNS);

/** Adds credit. */
export function grant(db: Queryable, input: CreditInput): Promise<CreditResult> {
  return post(db, GRANT, input);
}

/** Adds or removes credit, never below zero. */
export function adjust(db: Queryable, input: CreditInput): Promise<CreditResult> {
  return post(db, ADJUST, input);
}

async function post(
  db: Queryable,
  credit: typeof GRANT,
  input: CreditInput,
): Promise<CreditResult> {
  const row = await retryOnce(async () => {
    return queryRow(db, credit, [input.accountId, input.ms, input.reason, input.actor, input.id]);
  });
  switch (row.outcome) {
    case 'posted':
      return {
        outcome: row.outcome,
        replayed: row.replayed,
        seq: row.seq,
        availableMs: row.available_ms,
      };
    case 'insufficient_credits':
      return { outcome: row.outcome, availableMs: row.available_ms };
    case 'unknown_account':
    case 'request_conflict':
      return { outcome: row.outcome };
  }
}
