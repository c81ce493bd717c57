import { randomBytes } from 'node:crypto';
import { connect, type Client } from '@svc-asr/server/platform/database/db.ts';
import { migrate } from '@svc-asr/server/platform/database/migrate.ts';
import { startLocalPostgres, withDatabase } from '@svc-asr/local/local-postgres.ts';
import { onServer } from '@svc-asr/testing/postgres/test-database.ts';
import { installClock, useClock } from './simulated-clock.ts';

/** A real PostgreSQL with the real functions and a clock that can be set. */
export interface ClockedPostgres {
  readonly db: Client;
  close(): Promise<void>;
}

/**
 * Creates a database on the server of `DATABASE_URL`, or on a local one. Call it before the clocks of this process become
 * virtual.
 */
export async function openClockedPostgres(
  env: Readonly<Record<string, string | undefined>>,
): Promise<ClockedPostgres> {
  const server = env['DATABASE_URL'] === undefined ? await startLocalPostgres() : null;
  const adminUrl = env['DATABASE_URL'] ?? server?.url ?? '';
  const name = `simulate_${randomBytes(8).toString('hex')}`;
  await onServer(adminUrl, (admin) => admin.query(`create database ${name}`));
  const url = withDatabase(adminUrl, name);
  await migrate({ url });
  const db = await connect({ url });
  await installClock(db);
  await useClock(db);
  return {
    db,
    async close() {
      await db.end();
      await onServer(adminUrl, (admin) => admin.query(`drop database ${name} with (force)`));
      await server?.stop('immediate');
    },
  };
}
