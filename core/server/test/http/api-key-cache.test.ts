import { afterAll, expect, test, vi } from 'vitest';
import { setAccountStatus } from '../../src/accounts/accounts.ts';
import { revokeApiKey } from '../../src/accounts/keys/api-keys.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { startServiceBehindProxy } from '../support/service-behind-proxy.ts';
import { startService, type Service, type Tenant } from '@svc-asr/testing/service/service.ts';

/** The connection on which a process receives key-change notifications. */
const LISTENER = 'svc-asr keys';

const { svc, proxy, database, stop } = await startServiceBehindProxy({
  env: { NODE_ID: 'timed', METRICS_TOKEN: 'token-of-the-operator' },
});
let nowMs = 1_000_000;
/** A process with a manual clock. */
const manual = await startService({
  database,
  parts: { clock: { monotonicMs: () => nowMs } },
  env: { NODE_ID: 'manual' },
});
afterAll(async () => {
  await manual.stop();
  await stop();
});

const newTenant = () => svc.addTenant({ creditMs: 60_000 });
const statusOf = async (process: Service, { apiKey }: Tenant) =>
  (await process.usage({ apiKey })).status;
/** Waits until the process answers with this status. */
async function eventuallyAnswers(process: Service, tenant: Tenant, status: number): Promise<true> {
  await eventually(async () => (await statusOf(process, tenant)) === status);
  return true;
}
const revoke = (tenant: Tenant) =>
  revokeApiKey(database.pool, { accountId: tenant.accountId, id: tenant.keyId });

/** Whether the process answers without a database lookup of the key. */
async function isCached(process: Service, tenant: Tenant): Promise<boolean> {
  using query = vi.spyOn(process.deps.db, 'query');
  expect(await statusOf(process, tenant)).toBe(200);
  return !query.mock.calls.some(([asked]) => Object(asked).name === 'find_api_key');
}

/**
 * Waits until a heartbeat came back. The first one may have been sent before this call; the second has
 * returned when the third is sent.
 */
async function waitForHeartbeat(process: Service): Promise<void> {
  const lastSent = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ sent: number | null }>(
      `select (extract(epoch from max(query_start)) * 1000000)::bigint as sent from pg_stat_activity
        where application_name = $1 and query like '%pg_notify%'`,
      [`${LISTENER} ${process.config.nodeId}`],
    );
    return rows[0]?.sent ?? 0;
  };
  for (let heartbeat = 1; heartbeat <= 3; heartbeat += 1) {
    const before = await lastSent();
    await eventually(async () => (await lastSent()) > before);
  }
}

/** Uses the key and checks that it is cached for longer than without notifications. */
async function expectLongCaching(tenant: Tenant): Promise<void> {
  await waitForHeartbeat(manual);
  expect(await isCached(manual, tenant)).toBe(false);
  nowMs += 2_500;
  await waitForHeartbeat(manual);
  nowMs += 2_500;
  expect(await isCached(manual, tenant)).toBe(true);
}

test('S01 caches a key for one minute while key-change notifications arrive', async () => {
  const tenant = await newTenant();
  await expectLongCaching(tenant);
  nowMs += 60_000;
  expect(await isCached(manual, tenant)).toBe(false);
});

test('S01 a process with a cached key is notified of its revocation', async () => {
  const tenant = await newTenant();
  await expectLongCaching(tenant);
  await revoke(tenant);
  expect(await eventuallyAnswers(manual, tenant, 401)).toBe(true);
});

test('S01 is notified when an account is suspended and resumed', async () => {
  const tenant = await newTenant();
  await expectLongCaching(tenant);
  await setAccountStatus(database.pool, { id: tenant.accountId, status: 'suspended' });
  expect(await eventuallyAnswers(manual, tenant, 403)).toBe(true);
  await setAccountStatus(database.pool, { id: tenant.accountId, status: 'active' });
  expect(await eventuallyAnswers(manual, tenant, 200)).toBe(true);
});

test('S01 refuses a cached key after it expires', async () => {
  const { accountId } = await newTenant();
  const expiresAt = new Date(Date.now() + 4_000);
  const tenant = await svc.addKey(accountId, { expiresAt });
  expect(await statusOf(svc, tenant)).toBe(200);
  expect(await eventuallyAnswers(svc, tenant, 401)).toBe(true);
});

test.each(['cut', 'silent'] as const)(
  'S01 refuses a revoked key within 5 s even if the notification connection is %s',
  async (state) => {
    const tenant = await newTenant();
    await waitForHeartbeat(svc);
    await isCached(svc, tenant);
    proxy.set(state, LISTENER);
    expect(await isCached(svc, tenant)).toBe(true);
    await revoke(tenant);
    const began = performance.now();
    expect(await eventuallyAnswers(svc, tenant, 401)).toBe(true);
    expect(performance.now() - began).toBeLessThan(5_000);
    proxy.set('open');
  },
);

async function notificationsMetric(): Promise<string | undefined> {
  const headers = { authorization: 'Bearer token-of-the-operator' };
  const metrics = await (await fetch(`${svc.url}/metrics`, { headers })).text();
  return /^svc_key_changes_heard (\d)$/m.exec(metrics)?.[1];
}

test.each(['cut', 'silent'] as const)(
  'the metrics show whether notifications arrive, and that they do not while the connection is %s',
  async (state) => {
    await expect.poll(notificationsMetric).toBe('1');
    proxy.set(state, LISTENER);
    await expect.poll(notificationsMetric).toBe('0');
    proxy.set('open');
    await expect.poll(notificationsMetric).toBe('1');
  },
);
