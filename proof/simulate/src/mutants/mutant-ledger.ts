import { plantInSql, type SqlChange } from '@svc-asr/testing/postgres/mutate-function.ts';
import type { OpenLedger } from '../world/world.ts';

/** The ledger that answers: the model, or PGlite for bugs in SQL. Call it before the clocks become virtual. */
export async function openMutantLedger(
  sql: readonly SqlChange[] | null,
  isClean: boolean,
): Promise<OpenLedger> {
  if (sql === null) {
    const { ModelLedger } = await import('../ledger/model-ledger.ts');
    return (nowMs) => new ModelLedger({ nowMs });
  }
  const { PgliteLedger } = await import('../ledger/pglite-ledger.ts');
  const opened = await PgliteLedger.open(async (db) => {
    if (!isClean) await plantInSql(db, sql);
  });
  return (nowMs) => opened.begin(nowMs);
}
