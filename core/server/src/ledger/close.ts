import type { Queryable } from '../platform/database/db.ts';
import { queryRow, statement, t } from '../platform/database/statement.ts';
import { retryOnce } from './retry-once.ts';
import type { CloseInput, CloseResult } from './types.ts';

const CLOSE = statement(
  'select close_session($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) as outcome',
  { outcome: t.text<CloseResult>() },
  { name: 'close_session' },
);

/** Settles accepted audio that is new and releases the rest, exactly once. */
export async function close(db: Queryable, input: CloseInput): Promise<CloseResult> {
  return retryOnce(async () => {
    const { outcome } = await queryRow(db, CLOSE, [
      input.accountId,
      input.sessionId,
      input.status,
      input.samples,
      input.nodeId,
      input.nodeEpoch,
      input.upgradeId ?? null,
      input.replayed?.sessionId ?? null,
      input.replayed?.samples ?? 0,
      input.lost?.lengths ?? null,
      input.lost?.digests ?? null,
      input.isTold ?? true,
    ]);
    return outcome;
  });
}

/** SQLSTATEs that close_session raises itself: no session, no such status, another node's session, never claimed. */
const CLOSE_REFUSALS = new Set(['SVC01', 'SVC02', 'SVC03', 'SVC04']);

/**
 * Whether the database answered that it never accepts this settlement. Any other error may heal: a database that
 * refuses connections, a missing permission, a failed migration, a row that an operator must repair.
 */
export function isCloseRefused(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && CLOSE_REFUSALS.has(code);
}
