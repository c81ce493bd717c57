import type { Queryable } from '../platform/db.ts';
import { number, queryRows, statement } from '../platform/statement.ts';
import { onlyRow } from './retry-once.ts';
import type { SweepOptions, SweepResult } from './types.ts';

const BATCH = 100;

const FAIL_ORPHANS = statement('select * from fail_orphans($1)', {
  failed: number(),
  quiet_ms: number(),
});
const EXPIRE_LAPSED = statement(
  'select expire_lapsed($1) as expired, forget_idempotency($1) as forgotten',
  { expired: number(), forgotten: number() },
);

/**
 * Ends expired reservations and sessions of lost nodes. Call it every second: after a longer pause, fail_orphans
 * waits for two lease lengths before it fails sessions again.
 */
export async function sweep(db: Queryable, options: SweepOptions = {}): Promise<SweepResult> {
  const batch = options.batch ?? BATCH;
  const { failed, quiet_ms: quietMs } = onlyRow(await queryRows(db, FAIL_ORPHANS, [batch]));
  const { expired, forgotten } = onlyRow(await queryRows(db, EXPIRE_LAPSED, [batch]));
  return { expired, failed, quietMs, more: Math.max(expired, failed, forgotten) >= batch };
}
