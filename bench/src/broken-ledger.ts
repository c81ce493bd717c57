import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '@svc-asr/server/platform/db.ts';
import { withDatabase } from '@svc-asr/local/local-postgres.ts';
import { migrate } from '@svc-asr/server/platform/migrate.ts';
import type { SqlBug } from '@svc-asr/testing/ledger/sql-bugs.ts';
import { mutateFunction } from '@svc-asr/testing/postgres/mutate-function.ts';
import type { TemporaryLedger } from './temporary-ledger.ts';

export interface BrokenLedger {
  readonly url: string;
  readonly owner: Pool;
}

/** Runs the same work on a broken ledger in its own database. A campaign that does not detect the bug proves nothing. */
export async function onBrokenLedger<T>(
  ledger: TemporaryLedger,
  bug: SqlBug,
  work: (broken: BrokenLedger) => Promise<T>,
): Promise<T> {
  const name = `control_${randomUUID().replaceAll('-', '')}`;
  await ledger.owner.query(`create database ${name}`);
  const url = withDatabase(ledger.server.url, name);
  await migrate({ url });
  const owner = createPool({ url, statementTimeoutMs: 120_000 });
  try {
    for (const guard of bug.without ?? []) await owner.query(`drop ${guard}`);
    await mutateFunction(owner, bug.in, bug.changes);
    return await work({ url, owner });
  } finally {
    await owner.end();
  }
}
