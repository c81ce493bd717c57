import { randomUUID } from 'node:crypto';
import { startLocalPostgres, withDatabase } from '@svc-asr/local/local-postgres.ts';
import { migrate } from '@svc-asr/server/platform/database/migrate.ts';
import { onServer } from './test-database.ts';

/** For the services of up to eight files at once. */
const SETTINGS = { settings: { max_connections: '500' } };

/**
 * Before the first test, prepares a migrated template database on DATABASE_URL, or on a new local
 * server.
 */
export async function setup(): Promise<() => Promise<void>> {
  const given = process.env['DATABASE_URL'];
  const server = given === undefined ? await startLocalPostgres(SETTINGS) : null;
  const adminUrl = given ?? server?.url ?? '';
  const template = `template_${randomUUID().replaceAll('-', '')}`;
  await onServer(adminUrl, (admin) => admin.query(`create database ${template}`));
  await migrate({ url: withDatabase(adminUrl, template) });
  process.env['TEST_DATABASE_ADMIN_URL'] = adminUrl;
  process.env['TEST_DATABASE_TEMPLATE'] = template;

  return async () => {
    if (server !== null) return server.stop('immediate');
    await onServer(adminUrl, (admin) => admin.query(`drop database ${template} with (force)`));
  };
}
