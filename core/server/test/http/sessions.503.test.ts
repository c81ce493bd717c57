import { afterAll, expect, test } from 'vitest';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { startServiceBehindProxy } from '../support/service-behind-proxy.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';

const { svc, proxy, database, stop } = await startServiceBehindProxy();
afterAll(stop);

test.each(['cut', 'silent'] as const)(
  'S19 H03 returns 503 within 2.5 s while the database is %s, with a cached key or not, and recovers',
  async (state) => {
    const [known, unknown] = [
      await svc.addTenant({ creditMs: 60_000 }),
      await svc.addTenant({ creditMs: 60_000 }),
    ];
    await svc.usage(known);
    proxy.set(state);
    for (const tenant of [known, unknown]) {
      const began = performance.now();
      const { status, body } = await svc.refusedSession({ model: KIKUYU }, tenant);
      expect(performance.now() - began).toBeLessThan(2_500);
      expect(status).toBe(503);
      expect(body.error).toMatchObject({ type: 'api_error', code: 'service_unavailable' });
    }
    expect((await svc.request('/readyz')).status).toBe(503);
    expect((await svc.request('/healthz')).status).toBe(200);
    proxy.set('open');
    await eventually(
      async () => (await svc.createSession({ model: KIKUYU }, unknown)).status === 201,
    );
    // The node renews its lease every two seconds.
    await eventually(async () => (await svc.request('/readyz')).status === 200);
  },
);

test('S19 returns 503 capacity_exceeded after 402 when no node has room, and reserves nothing', async () => {
  const full = await startService({ database, parts: { placement: { choose: () => null } } });
  try {
    const { status, body } = await full.refusedSession();
    expect(status).toBe(503);
    expect(body.error).toMatchObject({ type: 'api_error', code: 'capacity_exceeded' });
    expect((await full.usage()).body).toMatchObject({ reserved_ms: 0, recent_sessions: [] });
    const poor = await full.addTenant({ creditMs: 999 });
    expect((await full.refusedSession({ model: KIKUYU }, poor)).status).toBe(402);
  } finally {
    await full.stop();
  }
});

test('S19 a draining process reserves nothing new and still answers a replay', async () => {
  const leaving = await startService({ database });
  try {
    const options = { headers: { 'idempotency-key': 'order-11' } };
    const first = await leaving.createSession({ model: KIKUYU }, options);
    leaving.deps.lifecycle.draining = true;
    const replay = await leaving.createSession({ model: KIKUYU }, options);
    expect(replay.body).toEqual(first.body);
    const other = await leaving.addTenant({ creditMs: 60_000 });
    const { status, body } = await leaving.refusedSession({ model: KIKUYU }, other);
    expect(status).toBe(503);
    expect(body.error.code).toBe('service_restarting');
    expect((await leaving.request('/readyz')).status).toBe(503);
  } finally {
    await leaving.stop();
  }
});

test('H03 Retry-After is the rest of the drain when no other node can take the session', async () => {
  const leaving = await startService();
  const { body: session } = await leaving.createSession();
  const stream = await StreamClient.ready(session, { url: leaving.streamUrl });
  const other = await leaving.addTenant({ creditMs: 60_000 });
  const stopped = leaving.stop({ drainMs: 40_000 });
  const retryAfter = async () => {
    const { body, headers } = await leaving.refusedSession({ model: KIKUYU }, other);
    expect(body.error.code).toBe('service_restarting');
    return Number(headers.get('retry-after'));
  };
  // Until the list of nodes is refreshed, this node still counts as one that a retry could reach.
  await eventually(async () => (await retryAfter()) > 2);
  expect(await retryAfter()).toBeGreaterThan(20);
  expect(await retryAfter()).toBeLessThanOrEqual(40);
  await stream.close();
  await stopped;
});

test('S19 H04 an unexpected error is 503 internal_error, never 500, and leaks nothing', async () => {
  const secret = 'select secret from somewhere';
  const broken = await startService({ database });
  broken.deps.ledger.reserve = () => Promise.reject(new Error(secret));
  try {
    const { status, body } = await broken.refusedSession();
    expect(status).toBe(503);
    expect(body.error.code).toBe('internal_error');
    expect(JSON.stringify(body)).not.toContain('select');
    expect(broken.logged()).toContain(secret);
  } finally {
    await broken.stop();
  }
});
