import { chmod, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
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

test('no other account of this machine can reach it: it does not listen on TCP, and the folder of its socket is closed', async () => {
  const postgres = await startLocalPostgres();
  try {
    const client = await connect({ url: postgres.url });
    const { rows } = await client.query<{ tcp: string; socket: string; rules: string[] }>(
      `select current_setting('listen_addresses') as tcp, current_setting('unix_socket_directories') as socket,
        (select array_agg(distinct type || ' ' || auth_method) from pg_hba_file_rules) as rules`,
    );
    await client.end();
    const [{ tcp, socket, rules } = { tcp: '', socket: '', rules: [] }] = rows;
    expect({ tcp, rules }).toEqual({ tcp: '', rules: ['host reject', 'local trust'] });
    expect((await stat(socket)).mode & 0o777).toBe(0o700);
  } finally {
    await postgres.stop('immediate');
  }
});

test('starts in a folder whose path is too long for a socket, and leaves no folder of the socket behind', async () => {
  const home = await mkdtemp(join(tmpdir(), 'svc-home-'));
  await chmod(home, 0o755);
  const dataDir = join(home, 'deep/'.repeat(20), 'postgres');
  const postgres = await startLocalPostgres({ dataDir });
  const socket = new URL(postgres.url).searchParams.get('host') ?? '';
  try {
    expect((await stat(socket)).mode & 0o777).toBe(0o700);
    await (await connect({ url: postgres.url })).end();
  } finally {
    await postgres.stop();
  }
  await expect(stat(socket)).rejects.toThrow('ENOENT');
  await rm(home, { recursive: true });
});
