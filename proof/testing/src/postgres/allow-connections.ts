import { withDatabase } from '@svc-asr/local/local-postgres.ts';
import { onServer } from './test-database.ts';

/** Makes a database refuse all connections, and ends the open ones, or accept them again. */
export async function allowConnections(url: string, allow: boolean): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  // A database can't refuse the connection that changes it.
  const other = withDatabase(url, name === 'postgres' ? 'template1' : 'postgres');
  await onServer(other, async (db) => {
    await db.query(`alter database ${name} allow_connections ${allow}`);
    if (allow) return;
    await db.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      name,
    ]);
  });
}
