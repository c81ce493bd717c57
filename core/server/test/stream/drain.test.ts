import { SUBPROTOCOL } from '@svc-asr/protocol';
import { expect, test, vi } from 'vitest';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import {
  KIKUYU,
  startService,
  type Service,
  type Tenant,
} from '@svc-asr/testing/service/service.ts';
import { refused, speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';

const SAYS = { script: { texts: ['nĩ wega'] } };

async function newStream(svc: Service, tenant: Tenant = svc): Promise<StreamClient> {
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 30 }, tenant);
  return StreamClient.ready(body, { url: svc.streamUrl });
}

test('drain: notifies streams at once, refuses new ones, and bills streams that end in time', async () => {
  const svc = await startService(SAYS);
  const waiting = await svc.addTenant({ creditMs: 60_000 });
  const newcomer = await svc.addTenant({ creditMs: 60_000 });
  const { body: reserved } = await svc.createSession({ model: KIKUYU }, waiting);
  const client = await newStream(svc);
  const stopped = svc.stop({ drainMs: 60_000 });
  expect(await client.status('draining')).toMatchObject({ deadline_ms: 60_000 });

  const late = await refused(svc.streamUrl, reserved.websocket_protocols);
  expect(late).toMatchObject({ status: 503, body: { error: { code: 'service_restarting' } } });
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
  const session = await svc.refusedSession({ model: KIKUYU }, newcomer);
  expect(session).toMatchObject({ status: 503, body: { error: { code: 'service_restarting' } } });
  expect((await svc.request('/readyz')).status).toBe(503);

  const final = await client.send(speech({ ms: 1_000 })).flush();
  expect(final).toMatchObject({ text: 'nĩ wega', reason: 'flush' });
  expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
  await stopped;
});

test('C04 drain deadline: a last final, service_restart, 1012, nothing billed', async () => {
  const database = await createTestDatabase();
  const svc = await startService({ ...SAYS, database });
  const client = await newStream(svc);
  await client.send(speech({ ms: 1_000 })).flush();
  client.send(speech({ ms: 500 }));
  const stopped = svc.stop({ drainMs: 300 });
  expect(await client.next('final', 2)).toMatchObject({
    reason: 'draining',
    text: 'nĩ wega',
    billable_ms: 0,
  });
  expect(await client.error('service_restart')).toMatchObject({
    retryable: true,
    close_code: 1012,
  });
  expect(await client.closed).toEqual({ code: 1012, reason: 'service_restart' });
  await stopped;
  const { rows } = await database.pool.query('select status, billable_ms from sessions');
  expect(rows).toEqual([{ status: 'failed', billable_ms: 0 }]);
  await database.drop();
});

test('a reservation on a draining node can be used on another', async () => {
  const database = await createTestDatabase();
  const shared = { PUBLIC_STREAM_URL: 'wss://streams.example.com/v1/asr/stream' };
  const first = await startService({ ...SAYS, database, env: shared });
  const { body } = await first.createSession({ model: KIKUYU });
  const second = await startService({ ...SAYS, database, env: shared });
  await first.stop();
  await sweptAtLeastOnce(second);
  const client = await StreamClient.ready(body, { url: second.streamUrl });
  expect((await client.send(speech({ ms: 1_000 })).flush()).billable_ms).toBe(1_000);
  await client.close();
  await second.stop();
  await database.drop();
});

test('a reservation whose only node is gone fails at once with an instruction', async () => {
  const database = await createTestDatabase();
  const first = await startService({ ...SAYS, database });
  const tenant = await first.addTenant({ creditMs: 60_000 });
  const { body } = await first.createSession({ model: KIKUYU }, tenant);
  const second = await startService({
    ...SAYS,
    database,
    env: { PUBLIC_STREAM_URL: 'wss://node-2.example.com' },
  });
  await first.stop();
  await sweptAtLeastOnce(second);
  const refusal = await refused(second.streamUrl, body.websocket_protocols);
  expect(refusal.body.error).toMatchObject({ code: 'session_credential_expired' });
  expect(refusal.body.error.message).toMatch(/Create a new session/);
  const url = 'wss://node-2.example.com/v1/asr/stream';
  await eventually(() => placesOnlyOn(second, url));
  const next = await second.createSession({ model: KIKUYU }, tenant);
  expect(next.status).toBe(201);
  expect(next.body.websocket_url).toBe(url);
  await second.stop();
  await database.drop();
});

test('a restarted node ends the sessions of its previous process, unbilled', async () => {
  const database = await createTestDatabase();
  const env = { NODE_ID: 'node-1' };
  const lost = await startService({ ...SAYS, database, env });
  const client = await newStream(lost);
  await client.send(speech({ ms: 1_000 })).flush();
  // The earlier process still runs, like a hung one. Only the newer epoch counts.
  const again = await startService({ ...SAYS, database, env });
  await sweptAtLeastOnce(again);
  const { rows } = await database.pool.query('select status, billable_ms from sessions');
  expect(rows).toEqual([{ status: 'failed', billable_ms: 0 }]);
  await client.close();
  const refusal = await refusedOnceFenced(lost);
  expect(refusal).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } });
  await Promise.all([lost.stop(), again.stop()]);
  await database.drop();
});

test('S19 no node at all: 503 capacity_exceeded', async () => {
  const api = await startService({ env: { ROLE: 'api' } });
  const { status, body } = await api.refusedSession({ model: KIKUYU });
  expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'capacity_exceeded' });
  await api.stop();
});

/**
 * Whether a service no longer lists other nodes. Its list is up to a second old, and it spreads
 * sessions evenly.
 */
function placesOnlyOn(svc: Service, url: string): boolean {
  const places = Array.from({ length: 50 }, () => svc.deps.placement.choose(KIKUYU)?.url);
  return places.every((place) => place === url);
}

/** Waits until the sweeper has run after this call. */
async function sweptAtLeastOnce(svc: Service): Promise<void> {
  const { pool } = svc.database;
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
  const swept = 'select from sweeper_watch where last_tick_at > $1::timestamptz';
  await eventually(async () => (await pool.query(swept, [rows[0]?.now])).rowCount === 1);
}

/** A superseded process notices it at its next renewal. */
function refusedOnceFenced(svc: Service) {
  return vi.waitUntil(
    async () => {
      const tenant = await svc.addTenant({ creditMs: 1_000 });
      const credential = svc.deps.credentials.issue({
        sessionId: tenant.accountId,
        accountId: tenant.accountId,
        expiresAtMs: Date.now() + 60_000,
      });
      const refusal = await refused(svc.streamUrl, [SUBPROTOCOL, credential]);
      return refusal.status !== 401 && refusal;
    },
    { timeout: 60_000, interval: 50 },
  );
}
