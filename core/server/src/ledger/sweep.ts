import type { Queryable } from '../platform/database/db.ts';
import { queryRow, statement, t } from '../platform/database/statement.ts';
import type { SweepOptions, SweepResult } from './types.ts';

const BATCH = 100;

const FAIL_ORPHANS = statement('select * from fail_orphans($1)', {
  failed: t.number(),
  quiet_ms: t.number(),
});
const EXPIRE_RESERVATIONS = statement(
  'select expire_reservations($1) as expired, forget_idempotency($1) as forgotten',
  { expired: t.number(), forgotten: t.number() },
);

/**
 * Ends expired reservations and sessions of lost nodes. Call it every second: after a longer pause, fail_orphans
 * waits for two lease lengths before it fails sessions again.
 */
export async function sweep(db: Queryable, options: SweepOptions = {}): Promise<SweepResult> {
  const batch = options.batch ?? BATCH;
  const { failed, quiet_ms: quietMs } = await queryRow(db, FAIL_ORPHANS, [batch]);
  const { expired, forgotten } = await queryRow(db, EXPIRE_RESERVATIONS, [batch]);
  return { expired, failed, quietMs, more: Math.max(expired, failed, forgotten) >= batch };
}
