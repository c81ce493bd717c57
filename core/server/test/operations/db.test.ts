import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toApiError } from '../../src/platform/api-error.ts';
import {
  createPool,
  inTransaction,
  isDatabaseUnavailable,
} from '../../src/platform/database/db.ts';
import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function endBackendsOf(applicationName: string): Promise<void> {
  await database.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
    [applicationName],
  );
}

test('a broken connection, idle or in use, does not affect others', async () => {
  const broken: Error[] = [];
  const applicationName = 'to be broken';
  const pool = createPool({
    url: database.url,
    applicationName,
    onError: (error) => broken.push(error),
  });
  try {
    await pool.query('select 1');
    await endBackendsOf(applicationName);
    await eventually(() => broken.length === 1);

    const slow = pool.query('select pg_sleep(60)').catch((error: unknown) => error);
    await eventually(async () => {
      const { rows } = await database.pool.query<{ running: number }>(
        `select count(*) as running from pg_stat_activity where application_name = $1 and state = 'active'`,
        [applicationName],
      );
      return rows[0]?.running === 1;
    });
    await endBackendsOf(applicationName);
    expect(isDatabaseUnavailable(await slow)).toBe(true);

    const held = await pool.connect();
    await endBackendsOf(applicationName);
    const lost = await held.query('select 1').catch((error: unknown) => error);
    held.release(true);
    expect(isDatabaseUnavailable(lost)).toBe(true);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await pool.end();
  }
});

test('the server cancels a slow statement, which does not count as an outage', async () => {
  const pool = createPool({ url: database.url, statementTimeoutMs: 50 });
  try {
    const late = await pool.query('select pg_sleep(60)').catch((error: unknown) => error);
    expect(late).toMatchObject({ code: '57014' });
    expect(isDatabaseUnavailable(late)).toBe(false);
    expect(toApiError(late).code).toBe('service_unavailable');
  } finally {
    await pool.end();
  }
});

test('an unreachable server is an outage', async () => {
  const pool = createPool({ url: 'postgresql://postgres@127.0.0.1:1/nothing' });
  const error = await pool.query('select 1').catch((failure: unknown) => failure);
  expect(isDatabaseUnavailable(error)).toBe(true);
  await pool.end();
});

test('a missing socket file is an outage, any other missing file is not', async () => {
  const pool = createPool({ url: 'postgresql:///nothing?host=/nowhere' });
  const missingSocket = await pool.query('select 1').catch((failure: unknown) => failure);
  expect(missingSocket).toMatchObject({ code: 'ENOENT' });
  expect(isDatabaseUnavailable(missingSocket)).toBe(true);
  const missing = await readFile('/nowhere/weights.onnx').catch((failure: unknown) => failure);
  expect(missing).toMatchObject({ code: 'ENOENT' });
  expect(isDatabaseUnavailable(missing)).toBe(false);
  await pool.end();
});

test('a transaction is all or nothing', async () => {
  await database.pool.query('create table tried (id integer)');
  await expect(
    inTransaction(database.pool, async (db) => {
      await db.query('insert into tried values (1)');
      throw new Error('changed my mind');
    }),
  ).rejects.toThrow('changed my mind');
  await inTransaction(database.pool, (db) => db.query('insert into tried values (2)'));
  expect((await database.pool.query('select id from tried')).rows).toEqual([{ id: 2 }]);
});

test('int8 is parsed as a number, and unsafe integers are rejected', async () => {
  expect((await database.pool.query(`select 5::bigint as ms`)).rows).toEqual([{ ms: 5 }]);
  await expect(database.pool.query(`select 9007199254740993::bigint as ms`)).rejects.toThrow(
    'too large',
  );
});
