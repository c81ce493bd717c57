import type { Queryable } from '../db.ts';
import { askAgain, onlyRow } from './ask-again.ts';
import type { CloseInput, CloseResult } from './ledger.ts';

/** Settles accepted audio and releases the rest, exactly once. */
export async function close(db: Queryable, input: CloseInput): Promise<CloseResult> {
  return askAgain(async () => {
    const { rows } = await db.query<{ outcome: CloseResult }>({
      name: 'close_session',
      text: 'select close_session($1, $2, $3, $4, $5, $6) as outcome',
      values: [
        input.accountId,
        input.sessionId,
        input.status,
        input.samples,
        input.nodeId,
        input.nodeEpoch,
      ],
    });
    return onlyRow(rows).outcome;
  });
}
