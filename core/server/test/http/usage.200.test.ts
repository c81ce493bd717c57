import { afterAll, expect, test } from 'vitest';
import { activate } from '../support/activate.ts';
import { KIKUYU, startService, type Tenant } from '@svc-asr/testing/service/service.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { backdateSession } from '@svc-asr/testing/postgres/time-travel.ts';

const svc = await startService();
afterAll(() => svc.stop());

async function usageOf(tenant: Tenant) {
  return (await svc.usage(tenant)).body;
}
async function countReports(): Promise<number> {
  const { rows } = await svc.database.pool.query<{ writes: number }>(
    `select (n_tup_ins + n_tup_upd)::integer as writes
     from pg_stat_user_tables where relname = 'live_audio'`,
  );
  return rows[0]?.writes ?? 0;
}
async function create(tenant: Tenant, seconds: number) {
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: seconds }, tenant);
  return { sessionId: body.id, accountId: tenant.accountId };
}

test('U02 U03 a new account has all its credit and no sessions', async () => {
  const tenant = await svc.addTenant({ creditMs: 90_500 });
  expect(await usageOf(tenant)).toEqual({
    object: 'credit_balance',
    unit: 'audio_millisecond',
    available_ms: 90_500,
    reserved_ms: 0,
    consumed_ms: 0,
    recent_sessions: [],
  });
});

test('U02 names the partition of its limit: one for all keys of an account, without its id', async () => {
  const [tenant, other] = [
    await svc.addTenant({ creditMs: 1_000 }),
    await svc.addTenant({ creditMs: 1_000 }),
  ];
  const second = await svc.addKey(tenant.accountId);
  const partitions = await Promise.all(
    [tenant, second, other].map(async (each) => {
      const { headers } = await svc.usage(each);
      return /^"usage";r=\d+;t=\d+;pk=:([\w+/]{16}):$/.exec(headers.get('ratelimit') ?? '')?.[1];
    }),
  );
  expect(partitions[0]).toBeDefined();
  expect(partitions[1]).toBe(partitions[0]);
  expect(partitions[2]).not.toBe(partitions[0]);
  expect(tenant.accountId).not.toContain(partitions[0] ?? '');
});

test('U04 U05 C01 C02 C03 updates the balance as a session goes from reserved to completed', async () => {
  const tenant = await svc.addTenant({ creditMs: 30_000 });
  const session = await create(tenant, 20);
  const shown = { id: session.sessionId, model: KIKUYU, audio_ms: 0, billable_ms: 0 };
  expect(await usageOf(tenant)).toMatchObject({
    available_ms: 10_000,
    reserved_ms: 20_000,
    consumed_ms: 0,
    recent_sessions: [{ ...shown, status: 'reserved', completed_at: null }],
  });
  const end = await activate(svc, session);
  expect((await usageOf(tenant)).recent_sessions).toMatchObject([
    { status: 'active', completed_at: null },
  ]);
  await end({ status: 'completed', samples: 16_001 });
  expect(await usageOf(tenant)).toMatchObject({
    available_ms: 28_000,
    reserved_ms: 0,
    consumed_ms: 2_000,
    recent_sessions: [{ ...shown, status: 'completed', audio_ms: 1_001, billable_ms: 2_000 }],
  });
});

test('U04 U05 C02 shows the accepted audio of an active session within 5 s, without a write per frame', async () => {
  const tenant = await svc.addTenant({ creditMs: 30_000 });
  const { body: session } = await svc.createSession(
    { model: KIKUYU, max_audio_seconds: 20 },
    tenant,
  );
  const stream = await StreamClient.ready(session, { url: svc.streamUrl });
  const frame = new Uint8Array(640);
  for (const sentMs of [2_000, 5_010]) {
    const before = sentMs === 2_000 ? 0 : 2_000;
    for (let ms = before; ms < sentMs; ms += 20) stream.send(frame.subarray(0, (sentMs - ms) * 32));
    const sentAtMs = performance.now();
    await eventually(async () => {
      const { available_ms, reserved_ms, consumed_ms, recent_sessions } = await usageOf(tenant);
      expect({ available_ms, reserved_ms, consumed_ms }).toEqual({
        available_ms: 10_000,
        reserved_ms: 20_000,
        consumed_ms: 0,
      });
      expect(recent_sessions).toMatchObject([{ status: 'active', billable_ms: 0 }]);
      return recent_sessions[0]?.audio_ms === sentMs;
    });
    expect(performance.now() - sentAtMs).toBeLessThan(5_000);
  }
  // PostgreSQL publishes its counters up to a second late.
  await eventually(async () => (await countReports()) >= 2);
  expect(await countReports()).toBeLessThan(10);
  await stream.close();
  expect(await usageOf(tenant)).toMatchObject({
    available_ms: 24_000,
    reserved_ms: 0,
    consumed_ms: 6_000,
    recent_sessions: [{ status: 'completed', audio_ms: 5_010, billable_ms: 6_000 }],
  });
});

test('C04 U04 a failed session shows its audio and is not charged', async () => {
  const tenant = await svc.addTenant({ creditMs: 30_000 });
  const session = await create(tenant, 20);
  const end = await activate(svc, session);
  await end({ status: 'failed', samples: 160_000 });
  expect(await usageOf(tenant)).toMatchObject({
    available_ms: 30_000,
    reserved_ms: 0,
    consumed_ms: 0,
    recent_sessions: [{ status: 'failed', billable_ms: 0, completed_at: expect.any(String) }],
  });
});

test('C05 U05 an expired reservation counts as returned before the sweeper runs', async () => {
  const tenant = await svc.addTenant({ creditMs: 30_000 });
  const { sessionId } = await create(tenant, 20);
  await backdateSession(svc.database.pool, { sessionId, ms: 60_001 });
  const usage = await usageOf(tenant);
  expect(usage).toMatchObject({ available_ms: 30_000, reserved_ms: 0, consumed_ms: 0 });
  const [session] = usage.recent_sessions;
  expect(session).toMatchObject({ status: 'expired', billable_ms: 0 });
  const lifeMs = Date.parse(session?.completed_at ?? '') - Date.parse(session?.created_at ?? '');
  expect(lifeMs).toBe(60_000);
});

test('U03 shows the newest 20 of 21 sessions, newest first', async () => {
  const tenant = await svc.addTenant({ creditMs: 600_000 });
  const ids: string[] = [];
  for (let n = 0; n < 21; n += 1) {
    const session = await create(tenant, 1);
    ids.unshift(session.sessionId);
    const end = await activate(svc, session);
    await end({ status: 'completed', samples: 1 });
  }
  const { recent_sessions, consumed_ms } = await usageOf(tenant);
  expect(recent_sessions.map(({ id }) => id)).toEqual(ids.slice(0, 20));
  expect(consumed_ms).toBe(21_000);
});

test('an account sees only its own sessions', async () => {
  const [a, b] = [
    await svc.addTenant({ creditMs: 60_000 }),
    await svc.addTenant({ creditMs: 60_000 }),
  ];
  await create(a, 10);
  expect(await usageOf(b)).toMatchObject({ available_ms: 60_000, recent_sessions: [] });
});
