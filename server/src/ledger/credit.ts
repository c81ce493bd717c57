import type { Queryable } from '../db.ts';
import { askAgain, onlyRow } from './ask-again.ts';
import type { CreditInput, CreditResult } from './ledger.ts';

interface CreditRow {
  readonly outcome: CreditResult['outcome'];
  readonly replayed: boolean;
  readonly seq: number;
  readonly available_ms: number;
}

/** Adds credit. */
export function grant(db: Queryable, input: CreditInput): Promise<CreditResult> {
  return post(db, 'select * from grant_credit($1, $2, $3, $4, $5)', input);
}

/** Corrects credit, up or down, never below nothing. */
export function adjust(db: Queryable, input: CreditInput): Promise<CreditResult> {
  return post(db, 'select * from adjust_credit($1, $2, $3, $4, $5)', input);
}

async function post(db: Queryable, text: string, input: CreditInput): Promise<CreditResult> {
  const row = await askAgain(async () => {
    const { rows } = await db.query<CreditRow>(text, [
      input.accountId,
      input.ms,
      input.reason,
      input.actor,
      input.id,
    ]);
    return onlyRow(rows);
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
