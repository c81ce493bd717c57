import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '@svc-asr/server/platform/database/db.ts';
import { startLocalPostgres } from '../src/local-postgres.ts';

test('starts, and restarts with its data, in a folder that only its owner can enter', async () => {
  const home = await mkdtemp(join(tmpdir(), 'svc-home-'));
  await chmod(home, 0o700);
  const dataDir = join(home, '.dev/postgres');
  const query = async (sql: string) => {
    const postgres = await startLocalPostgres({ dataDir });
    const client = await connect({ url: postgres.url });
    const { rows } = await client.query<{ kept: number }>(sql);
    await client.end();
    await postgres.stop();
    return rows;
  };
  await query('create table things as select 7 as kept');
  expect(await query('select kept from things')).toEqual([{ kept: 7 }]);
  await rm(await realpath(dataDir), { recursive: true });
  await rm(home, { recursive: true });
});
