import type { Queryable } from '../db.ts';
import { onlyRow } from './ask-again.ts';
import type { SweepOptions, SweepResult } from './ledger.ts';

const BATCH = 100;

/**
 * Ends what nobody else ends. Meant to be called every second: fail_orphans notices a longer pause
 * and, for two lease lengths after it, fails nobody for a lapsed lease.
 */
export async function sweep(db: Queryable, options: SweepOptions = {}): Promise<SweepResult> {
  const batch = options.batch ?? BATCH;
  const orphans = await db.query<{ failed: number; quiet_ms: number }>(
    'select * from fail_orphans($1)',
    [batch],
  );
  const lapsed = await db.query<{ expired: number; forgotten: number }>(
    'select expire_lapsed($1) as expired, forget_idempotency($1) as forgotten',
    [batch],
  );
  const { failed, quiet_ms: quietMs } = onlyRow(orphans.rows);
  const { expired, forgotten } = onlyRow(lapsed.rows);
  return { expired, failed, quietMs, more: Math.max(expired, failed, forgotten) >= batch };
}
