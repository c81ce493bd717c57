import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '@svc-asr/server/platform/db.ts';
import { withDatabase } from '@svc-asr/local/local-postgres.ts';
import { migrate } from '@svc-asr/server/platform/migrate.ts';
import { mutateFunction } from '@svc-asr/testing/postgres/mutate-function.ts';
import type { TemporaryLedger } from './temporary-ledger.ts';

/** A deliberately wrong ledger. A campaign that does not detect it proves nothing. */
export interface Breakage {
  readonly in: string;
  readonly changes: readonly { readonly from: string; readonly to: string }[];
  /** SQL that removes the guards which would reject the broken function. */
  readonly without?: readonly string[];
}

export interface BrokenLedger {
  readonly url: string;
  readonly owner: Pool;
}

/** Runs the same work on a deliberately broken ledger in its own database. */
export async function onBrokenLedger<T>(
  ledger: TemporaryLedger,
  breakage: Breakage,
  work: (broken: BrokenLedger) => Promise<T>,
): Promise<T> {
  const name = `control_${randomUUID().replaceAll('-', '')}`;
  await ledger.owner.query(`create database ${name}`);
  const url = withDatabase(ledger.server.url, name);
  await migrate({ url });
  const owner = createPool({ url, statementTimeoutMs: 120_000 });
  try {
    for (const guard of breakage.without ?? []) await owner.query(`drop ${guard}`);
    await mutateFunction(owner, breakage.in, breakage.changes);
    return await work({ url, owner });
  } finally {
    await owner.end();
  }
}
