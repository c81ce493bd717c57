import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '@svc-asr/server/db.ts';
import { withDatabase } from '@svc-asr/server/local-postgres.ts';
import { migrate } from '@svc-asr/server/migrate.ts';
import { mutateFunction } from '@svc-asr/server/test/mutate.ts';
import type { ThrowAwayLedger } from './throw-away-ledger.ts';

/** One way to write a ledger that loses a guarantee: a proof that cannot tell it proves nothing. */
export interface Breakage {
  readonly in: string;
  readonly changes: readonly { readonly from: string; readonly to: string }[];
  /** What would refuse the broken function's work, taken away first. */
  readonly without?: readonly string[];
}

export interface BrokenLedger {
  readonly url: string;
  readonly owner: Pool;
}

/** Runs the same work on a ledger that is broken on purpose, in a database of its own. */
export async function onBrokenLedger<T>(
  ledger: ThrowAwayLedger,
  breakage: Breakage,
  work: (broken: BrokenLedger) => Promise<T>,
): Promise<T> {
  const name = `control_${randomUUID().replaceAll('-', '')}`;
  await ledger.owner.query(`create database ${name}`);
  const url = withDatabase(ledger.server.url, name);
  await migrate({ url });
  const owner = createPool({ url });
  try {
    for (const guard of breakage.without ?? []) await owner.query(`drop ${guard}`);
    await mutateFunction(owner, breakage.in, breakage.changes);
    return await work({ url, owner });
  } finally {
    await owner.end();
  }
}
