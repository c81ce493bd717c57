import { mutateFunction } from '@svc-asr/testing/postgres/mutate-function.ts';
import type { OpenLedger } from '../world/world.ts';
import type { SqlBug } from '@svc-asr/testing/ledger/sql-bugs.ts';

/** The ledger that answers: the model, or PGlite for bugs in SQL. Call it before the clocks become virtual. */
export async function openMutantLedger(sql: SqlBug | null, isClean: boolean): Promise<OpenLedger> {
  if (sql === null) {
    const { ModelLedger } = await import('../ledger/model-ledger.ts');
    return (nowMs) => new ModelLedger({ nowMs });
  }
  const { PgliteLedger } = await import('../ledger/pglite-ledger.ts');
  const opened = await PgliteLedger.open(async (db) => {
    if (isClean) return;
    for (const guard of sql.without ?? []) await db.query(`drop ${guard}`);
    await mutateFunction(db, sql.in, sql.changes);
  });
  return (nowMs) => opened.begin(nowMs);
}
