import { randomBytes } from 'node:crypto';
import type { AsrSession } from '@svc-asr/protocol';
import { lostKey, lostToken } from '@svc-asr/protocol/lost-host.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { KIKUYU, startService, type Tenant } from '@svc-asr/testing/service/service.ts';
import { framed, speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { setConcurrency } from '../../src/accounts/accounts.ts';
import { requestSessionEnd } from '../../src/sessions/end-requests.ts';
import { findViolations } from '../../src/ledger/reports/audit.ts';

/** A client loses its connection, and comes back with the audio that has no final. */

const svc = await startService({ script: { texts: ['nĩ wega'] } });
/** The first stream's finals come later than a stream that is ended waits. */
const slow = await startService({
  script: ({ ordinal }) => ({ texts: ['nĩ wega'], chunkMs: ordinal === 0 ? 60_000 : 0 }),
});
afterAll(() => Promise.all([svc.stop(), slow.stop()]));
afterEach(async () => {
  for (const { database } of [svc, slow]) {
    const violations = await findViolations(database.pool);
    if (violations.length > 0) throw new Error(JSON.stringify(violations));
  }
});

const UNFINISHED = noise(2_500);
const OTHER = noise(2_500);

/** Audio that is unlike any other. */
function noise(ms: number): Buffer {
  return randomBytes(ms * 32);
}

interface Opened {
  readonly client: StreamClient;
  readonly session: AsrSession;
}

async function open(tenant: Tenant, idempotencyKey?: string, service = svc): Promise<Opened> {
  const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
  const { body } = await service.createSession({ model: KIKUYU }, { ...tenant, headers });
  return { client: await StreamClient.ready(body, { url: service.streamUrl }), session: body };
}

async function recent(tenant: Tenant) {
  return (await svc.usage(tenant)).body.recent_sessions;
}

/** Streams an utterance that gets its final and one that doesn't. Then the connection breaks. */
async function loseStream(tenant: Tenant): Promise<AsrSession> {
  const { client, session } = await open(tenant);
  await client.send(speech({ ms: 1_000 })).flush();
  for (const frame of framed(UNFINISHED)) client.send(frame);
  // Its answer shows that the audio before it was read.
  client.say({ type: 'config' });
  await client.next('config_ack');
  client.socket.terminate();
  await eventually(async () => (await recent(tenant))[0]?.status === 'completed');
  expect((await recent(tenant))[0]).toMatchObject({ audio_ms: 3_500, billable_ms: 4_000 });
  return session;
}

test.each([
  ['audio that is sent again is not charged again', { audio: UNFINISHED, billed: 1_000 }],
  ['other audio is charged', { audio: OTHER, billed: 4_000 }],
])('C02 after a lost connection, %s', async (_, { audio, billed }) => {
  const tenant = await svc.addTenant({ creditMs: 600_000 });
  const lost = await loseStream(tenant);
  const { client } = await open(tenant);
  client.say({ type: 'config', continues: [lostToken(lost)] });
  expect(await client.next('config_ack')).toMatchObject({ ignored: [] });
  for (const frame of framed(audio, 5_000)) client.send(frame);
  const final = await client.send(speech({ ms: 1_000 })).flush();
  expect(final).toMatchObject({ audio_ms: 3_500, total_audio_ms: 3_500, billable_ms: billed });
  await client.close();
  expect((await recent(tenant))[0]).toMatchObject({ audio_ms: 3_500, billable_ms: billed });
});

test('lost audio is free in one session, and only for the account that was charged', async () => {
  const tenant = await svc.addTenant({ creditMs: 600_000 });
  const lost = await loseStream(tenant);
  const stranger = await svc.addTenant({ creditMs: 600_000 });
  for (const [caller, billed] of [
    [stranger, 3_000],
    [tenant, 0],
    [tenant, 3_000],
  ] as const) {
    const { client } = await open(caller);
    client.say({ type: 'config', continues: [lostToken(lost)] });
    await client.next('config_ack');
    for (const frame of framed(UNFINISHED)) client.send(frame);
    expect(await client.flush()).toMatchObject({ billable_ms: billed });
    await client.close();
    expect((await recent(caller))[0]).toMatchObject({ billable_ms: billed });
  }
});

test('audio that was not charged, because its final came too late, is charged when it is sent again', async () => {
  const tenant = await slow.addTenant({ creditMs: 600_000 });
  const recentOf = async () => (await slow.usage(tenant)).body.recent_sessions[0];
  const { client, session } = await open(tenant, undefined, slow);
  await client.send(speech({ ms: 1_000 })).flush();
  for (const frame of framed(UNFINISHED)) client.send(frame);
  await requestSessionEnd(slow.database.pool, session.id);
  await eventually(async () => (await recentOf())?.status === 'completed');
  expect(await recentOf()).toMatchObject({ billable_ms: 1_000 });
  const next = await open(tenant, undefined, slow);
  next.client.say({ type: 'config', continues: [lostToken(session)] });
  await next.client.next('config_ack');
  for (const frame of framed(UNFINISHED)) next.client.send(frame);
  expect(await next.client.flush()).toMatchObject({ billable_ms: 3_000 });
  await next.client.close();
  expect(await recentOf()).toMatchObject({ billable_ms: 3_000 });
});

test('a session that has audio continues no other one', async () => {
  const tenant = await svc.addTenant({ creditMs: 600_000 });
  const lost = await loseStream(tenant);
  const { client } = await open(tenant);
  client.send(speech({ ms: 100 }));
  client.say({ type: 'config', continues: [lostToken(lost)] });
  expect(await client.next('config_ack')).toMatchObject({ ignored: ['continues'] });
  await client.close();
});

test('a session names lost sessions once', async () => {
  const tenant = await svc.addTenant({ creditMs: 600_000 });
  const continues = [lostToken(await loseStream(tenant))];
  const { client } = await open(tenant);
  client.say({ type: 'config', continues });
  client.say({ type: 'config', continues });
  expect(await client.next('config_ack')).toMatchObject({ ignored: [] });
  expect(await client.next('config_ack', 2)).toMatchObject({ ignored: ['continues'] });
  await client.close();
});

test('S18 a client that is back takes the place of its dead session', async () => {
  const tenant = await svc.addTenant({ creditMs: 600_000 });
  const { client, session } = await open(tenant);
  await client.send(speech({ ms: 1_000 })).flush();
  const [version] = session.websocket_protocols;
  const asStranger: AsrSession = { ...session, websocket_protocols: [version, 'x'.repeat(40)] };
  const refuse = async (of: AsrSession) => {
    const headers = { 'idempotency-key': lostKey(crypto.randomUUID().replaceAll('-', ''), of) };
    return svc.refusedSession({ model: KIKUYU }, { ...tenant, headers });
  };
  expect((await refuse(asStranger)).status).toBe(429);
  // Its node looks for such requests with every renewal of its lease. The second one is after the request.
  await renewals(2);
  expect((await recent(tenant))[0]).toMatchObject({ status: 'active' });
  const key = lostKey(crypto.randomUUID().replaceAll('-', ''), session);
  const next = await open(tenant, key);
  const old = async () => (await recent(tenant)).find(({ id }) => id === session.id);
  await eventually(async () => (await old())?.status === 'completed');
  expect(await old()).toMatchObject({ audio_ms: 1_000, billable_ms: 1_000 });
  expect(await next.client.send(speech({ ms: 1_000 })).flush()).toMatchObject({
    billable_ms: 1_000,
  });
  await next.client.close();
});

async function renewedAt(): Promise<number> {
  const { rows } = await svc.database.pool.query<{ at: Date }>(
    'select max(renewed_at) as at from nodes',
  );
  return rows[0]?.at.getTime() ?? 0;
}

async function renewals(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const before = await renewedAt();
    await eventually(async () => (await renewedAt()) > before);
  }
}

test('audio that comes before the lost session is over is not charged twice', async () => {
  const tenant = await svc.addTenant({ creditMs: 600_000 });
  await setConcurrency(svc.database.pool, { id: tenant.accountId, limit: 2 });
  const first = await open(tenant);
  for (const frame of framed(UNFINISHED)) first.client.send(frame);
  first.client.say({ type: 'config' });
  await first.client.next('config_ack');
  // The old connection just stays silent: only the new stream tells that its client is gone.
  const { client, session } = await open(tenant);
  client.say({ type: 'config', continues: [lostToken(first.session)] });
  await client.next('config_ack');
  for (const frame of framed(UNFINISHED)) client.send(frame);
  // More than five flushes a second are refused.
  await vi.waitUntil(async () => (await client.send(noise(10)).flush()).billable_ms === 1_000, {
    timeout: 20_000,
    interval: 400,
  });
  await client.close();
  const sessions = await recent(tenant);
  expect(sessions.find(({ id }) => id === first.session.id)).toMatchObject({ billable_ms: 3_000 });
  expect(sessions.find(({ id }) => id === session.id)).toMatchObject({ billable_ms: 1_000 });
});

test('audio is not charged twice if its stream ends before the lost session is over', async () => {
  const tenant = await svc.addTenant({ creditMs: 600_000 });
  await setConcurrency(svc.database.pool, { id: tenant.accountId, limit: 2 });
  const first = await open(tenant);
  for (const frame of framed(UNFINISHED)) first.client.send(frame);
  first.client.say({ type: 'config' });
  await first.client.next('config_ack');
  const { client, session } = await open(tenant);
  client.say({ type: 'config', continues: [lostToken(first.session)] });
  for (const frame of framed(UNFINISHED)) client.send(frame);
  await client.flush();
  await client.close();
  await eventually(async () =>
    (await recent(tenant)).every(({ status }) => status === 'completed'),
  );
  const sessions = await recent(tenant);
  expect(sessions.find(({ id }) => id === first.session.id)).toMatchObject({ billable_ms: 3_000 });
  expect(sessions.find(({ id }) => id === session.id)).toMatchObject({ billable_ms: 0 });
});
