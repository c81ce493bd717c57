import type { AsrSession, ErrorBody } from '@svc-asr/protocol';
import type { DemoState } from '@svc-asr/protocol/console/console.ts';
import { afterAll, expect, test } from 'vitest';
import { findViolations } from '../../src/ledger/reports/audit.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';
import {
  startConsoleService,
  TestBrowser,
  type ConsoleService,
} from '../support/console/console-service.ts';

/** The demo on the public page: who may start it, how often, and who pays. */

const DEMO = '7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11';
const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

/** A service whose demo has this pool, and takes this many sessions at once. Tests are clients of a trusted proxy. */
async function startDemo(
  options: { seconds?: number; perDay?: number; concurrency?: number; proxies?: string } = {},
): Promise<ConsoleService> {
  const database = await createTestDatabase();
  const db = database.pool;
  await db.query(`insert into accounts (id, name) values ($1, 'demo')`, [DEMO]);
  await db.query('select set_concurrency($1, $2)', [DEMO, options.concurrency ?? 100]);
  const ms = (options.seconds ?? 3_600) * 1_000;
  const credit = { ms, reason: 'pool', actor: 'test', id: crypto.randomUUID() };
  await createLedger(db).grant({ accountId: DEMO, ...credit });
  const service = await startConsoleService({
    database,
    env: {
      DEMO_ACCOUNT: DEMO,
      DEMO_PER_DAY: String(options.perDay ?? 1_000),
      TRUSTED_PROXIES: options.proxies ?? '127.0.0.1',
    },
  });
  stops.push(async () => {
    await service.stop();
    await database.drop();
  });
  return service;
}

function startFrom(service: ConsoleService, address: string) {
  const visitor = new TestBrowser(service.url);
  return visitor.post<AsrSession & ErrorBody>(
    '/demo/session',
    { model: KIKUYU },
    { 'x-forwarded-for': address },
  );
}

test('a visitor without an account gets 20 s, once per network and day, from the pool in the ledger', async () => {
  const service = await startDemo();
  const first = await startFrom(service, '203.0.113.7');
  expect(first.status).toBe(201);
  expect(first.body.credits).toMatchObject({ reserved: 20, remaining: 3_580 });
  const second = await startFrom(service, '203.0.113.7');
  expect([second.status, second.body.error.code]).toEqual([429, 'demo_used']);
  expect((await startFrom(service, '203.0.113.8')).status).toBe(201);
  // A /64 is one network.
  expect((await startFrom(service, '2001:db8:1:2::1')).status).toBe(201);
  expect((await startFrom(service, '2001:db8:1:2:ffff::9')).body.error.code).toBe('demo_used');

  const db = service.database.pool;
  const { rows } = await db.query('select account_id, key_id, reserved_ms from sessions');
  expect(rows).toHaveLength(3);
  expect(rows).toContainEqual({ account_id: DEMO, key_id: null, reserved_ms: 20_000 });
  expect(await findViolations(db)).toEqual([]);
});

test('tries again the next day, and forgets yesterday', async () => {
  const service = await startDemo();
  const db = service.database.pool;
  await startFrom(service, '203.0.113.7');
  await db.query('update demo_claims set day = day - 1');
  expect((await startFrom(service, '203.0.113.7')).status).toBe(201);
  await db.query('select forget_demo_claims()');
  const { rows } = await db.query<{ row: string }>(
    'select row_to_json(c)::text as row from demo_claims c',
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]?.row).not.toContain('203.0.113');
});

test('a forged X-Forwarded-For is no other address', async () => {
  const service = await startDemo({ proxies: '' });
  expect((await startFrom(service, '203.0.113.1')).status).toBe(201);
  expect((await startFrom(service, '203.0.113.2')).body.error.code).toBe('demo_used');
  const behind = await startDemo();
  expect((await startFrom(behind, '203.0.113.9')).status).toBe(201);
  // The proxy appends the address it sees, so the client's own entries come first.
  expect((await startFrom(behind, '198.51.100.1, 203.0.113.9')).body.error.code).toBe('demo_used');
});

test('parallel claims of one network get one session, and of many no more than the day has', async () => {
  const service = await startDemo({ perDay: 5 });
  const same = await Promise.all(
    Array.from({ length: 20 }, () => startFrom(service, '203.0.113.50')),
  );
  expect(same.filter(({ status }) => status === 201)).toHaveLength(1);
  const many = await Promise.all(
    Array.from({ length: 30 }, (_, at) => startFrom(service, `203.0.113.${100 + at}`)),
  );
  expect(many.filter(({ status }) => status === 201)).toHaveLength(4);
  expect(many.filter(({ status }) => status === 503)).toHaveLength(26);
  const { rows } = await service.database.pool.query('select 1 from sessions');
  expect(rows).toHaveLength(5);
});

test('a block of addresses gets a tenth of the day, so its owner cannot use up the demo', async () => {
  const service = await startDemo({ perDay: 120 });
  const codes: (string | number)[] = [];
  for (let at = 0; at < 14; at += 1) {
    const { status, body } = await startFrom(service, `2001:db8:1:${at.toString(16)}::1`);
    codes.push(status === 201 ? status : body.error.code);
  }
  expect(codes).toEqual([
    ...Array.from({ length: 12 }, () => 201),
    ...Array.from({ length: 2 }, () => 'demo_used'),
  ]);
  expect((await startFrom(service, '2001:db8:2::1')).status).toBe(201);
  expect((await startFrom(service, '203.0.113.7')).status).toBe(201);
});

test('a claim waits for one that is being made, and then counts it', async () => {
  const service = await startDemo({ perDay: 1 });
  const db = service.database.pool;
  const other = await db.connect();
  try {
    await other.query('begin');
    await other.query(`select claim_demo(sha256('another network'), 1)`);
    const answer = startFrom(service, '203.0.113.1');
    const waiting = `select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    await eventually(async () => (await db.query(waiting)).rowCount === 1);
    await other.query('commit');
    expect((await answer).body.error.code).toBe('demo_closed');
  } finally {
    other.release();
  }
});

test('an empty or suspended pool says so, and a refusal uses up nobody’s try', async () => {
  const service = await startDemo({ seconds: 20 });
  const db = service.database.pool;
  expect((await startFrom(service, '203.0.113.1')).status).toBe(201);
  const empty = await startFrom(service, '203.0.113.2');
  expect([empty.status, empty.body.error.code]).toEqual([503, 'demo_closed']);
  const credit = { ms: 20_000, reason: 'pool', actor: 'test', id: crypto.randomUUID() };
  await createLedger(db).grant({ accountId: DEMO, ...credit });
  expect((await startFrom(service, '203.0.113.2')).status).toBe(201);
  await db.query(`update accounts set status = 'suspended' where id = $1`, [DEMO]);
  expect((await startFrom(service, '203.0.113.3')).body.error.code).toBe('demo_closed');
});

test('tells a visitor before the first click whether the demo is open, and reserves nothing', async () => {
  const service = await startDemo({ seconds: 40, perDay: 2 });
  const stateFor = async (address: string) => {
    const visitor = new TestBrowser(service.url);
    const { body } = await visitor.get<DemoState>('/demo', { 'x-forwarded-for': address });
    return body.state;
  };
  expect(await stateFor('203.0.113.1')).toBe('open');
  expect(await stateFor('203.0.113.1')).toBe('open');
  await startFrom(service, '203.0.113.1');
  expect(await stateFor('203.0.113.1')).toBe('used');
  expect(await stateFor('203.0.113.2')).toBe('open');
  await startFrom(service, '203.0.113.2');
  expect(await stateFor('203.0.113.3')).toBe('closed');
  const tight = await startDemo({ seconds: 19 });
  const { body } = await new TestBrowser(tight.url).get<DemoState>('/demo');
  expect(body).toEqual({ state: 'closed' });
});

test('warns at start if the account is suspended or does not exist', async () => {
  const warning = 'The demo on the public page is closed: set DEMO_ACCOUNT to the id of';
  const running = await startDemo();
  expect(running.logged()).not.toContain(warning);
  const { database } = running;
  await database.pool.query(`update accounts set status = 'suspended'`);
  const missing = crypto.randomUUID();
  for (const options of [
    { database, env: { DEMO_ACCOUNT: DEMO } },
    { env: { DEMO_ACCOUNT: missing } },
  ]) {
    const service = await startConsoleService(options);
    stops.unshift(() => service.stop());
    expect(service.logged()).toContain(warning);
    expect((await startFrom(service, '203.0.113.1')).body.error.code).toBe('demo_closed');
  }
});

test('no more run at once than the account allows', async () => {
  const service = await startDemo({ concurrency: 1 });
  expect((await startFrom(service, '203.0.113.1')).status).toBe(201);
  const busy = await startFrom(service, '203.0.113.2');
  expect(busy.body.error.code).toBe('concurrency_limit_exceeded');
  expect(Number(busy.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('does not exist unless the operator pays for it, and refuses other sites and unknown models', async () => {
  const off = await startConsoleService();
  stops.push(() => off.stop());
  expect((await startFrom(off, '203.0.113.1')).status).toBe(404);
  const service = await startDemo();
  const visitor = new TestBrowser(service.url);
  const foreign = await visitor.post<ErrorBody>(
    '/demo/session',
    { model: KIKUYU },
    { origin: 'https://evil.example' },
  );
  expect(foreign.body.error.code).toBe('cross_site_request');
  const longer = { model: KIKUYU, max_audio_seconds: 300 };
  expect((await visitor.post('/demo/session', longer)).status).toBe(400);
  expect((await visitor.post('/demo/session', { model: 'other' })).status).toBe(400);
});
