import type { Queryable } from '../platform/db.ts';
import { queryRows, statement, text } from '../platform/statement.ts';
import { retryOnce, onlyRow } from './retry-once.ts';
import type { CloseInput, CloseResult } from './types.ts';

const CLOSE = statement(
  'select close_session($1, $2, $3, $4, $5, $6, $7) as outcome',
  { outcome: text<CloseResult>() },
  { name: 'close_session' },
);

/** Settles accepted audio and releases the rest, exactly once. */
export async function close(db: Queryable, input: CloseInput): Promise<CloseResult> {
  return retryOnce(async () => {
    const rows = await queryRows(db, CLOSE, [
      input.accountId,
      input.sessionId,
      input.status,
      input.samples,
      input.nodeId,
      input.nodeEpoch,
      input.attemptId ?? null,
    ]);
    return onlyRow(rows).outcome;
  });
}
