import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  startLocalPostgres,
  withDatabase,
  type LocalPostgres,
} from '@svc-asr/local/local-postgres.ts';
import { runAdmin } from '../../src/admin/program.ts';
import { createPool } from '../../src/platform/database/db.ts';

/** The database as docs/operations/install.md creates it. It needs a server of its own, because roles belong to the server. */

const ROLES = join(import.meta.dirname, '../../../../deploy/roles.sql');
const run = promisify(execFile);
let server: LocalPostgres;
beforeAll(async () => {
  server = await startLocalPostgres();
  const passwords = ['owner', 'service', 'operator'].flatMap((name) => [
    '-v',
    `${name}_password=secret`,
  ]);
  await run('psql', [server.url, '-q', '-v', 'ON_ERROR_STOP=1', ...passwords, '-f', ROLES]);
});
afterAll(async () => {
  await server.stop('immediate');
});

function urlOf(login: string): string {
  const url = new URL(withDatabase(server.url, 'svc'));
  url.username = login;
  url.password = 'secret';
  return url.href;
}

async function admin(login: string, ...words: readonly string[]) {
  let [out, err] = ['', ''];
  const status = await runAdmin(words, {
    env: { DATABASE_URL: urlOf(login) },
    devFolder: '/nowhere',
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { status, out, err };
}

test('the roles of deploy/roles.sql suffice to migrate, serve, operate and audit', async () => {
  const migrated = await admin('svc_owner', 'migrate');
  expect(migrated).toMatchObject({ status: 0, err: expect.stringContaining('at this version') });

  const service = createPool({ url: urlOf('login_service'), role: 'svc_all' });
  try {
    const { rows } = await service.query<{ role: string }>('select current_user as role');
    expect(rows).toEqual([{ role: 'svc_all' }]);
  } finally {
    await service.end();
  }

  const created = await admin('login_operator', 'accounts', 'create', '--name', 'Radio', '--json');
  expect(created.status).toBe(0);
  expect(await admin('login_operator', 'audit')).toMatchObject({ status: 0 });
});
