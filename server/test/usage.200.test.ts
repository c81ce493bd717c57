import { afterAll, beforeAll, expect, test } from 'vitest';
import { activate } from './activate.ts';
import { KIKUYU, startService, type Service, type Tenant } from './service.ts';
import { makeOlder } from './time-travel.ts';

let svc: Service;
beforeAll(async () => {
  svc = await startService();
});
afterAll(() => svc.stop());

async function usageOf(tenant: Tenant) {
  return (await svc.usage(tenant)).body;
}
async function create(tenant: Tenant, seconds: number) {
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: seconds }, tenant);
  return { sessionId: body.id, accountId: tenant.accountId };
}

test('U02 U03 a new account: all available, no sessions', async () => {
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

test('U04 U05 C01 C02 C03 reserved, active, completed: figures and session move together', async () => {
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

test('C04 U04 a failure of ours is shown with its audio and costs nothing', async () => {
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

test('C05 U05 a lapsed reservation counts as returned at once, before anybody swept it', async () => {
  const tenant = await svc.addTenant({ creditMs: 30_000 });
  const { sessionId } = await create(tenant, 20);
  await makeOlder(svc.database.pool, { sessionId, ms: 60_001 });
  const usage = await usageOf(tenant);
  expect(usage).toMatchObject({ available_ms: 30_000, reserved_ms: 0, consumed_ms: 0 });
  const [session] = usage.recent_sessions;
  expect(session).toMatchObject({ status: 'expired', billable_ms: 0 });
  const lifeMs = Date.parse(session?.completed_at ?? '') - Date.parse(session?.created_at ?? '');
  expect(lifeMs).toBe(60_000);
});

test('U03 of 21 sessions the newest 20 are shown, newest first', async () => {
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

test('one account sees nothing of another', async () => {
  const [a, b] = [
    await svc.addTenant({ creditMs: 60_000 }),
    await svc.addTenant({ creditMs: 60_000 }),
  ];
  await create(a, 10);
  expect(await usageOf(b)).toMatchObject({ available_ms: 60_000, recent_sessions: [] });
});
