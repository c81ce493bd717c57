import type { UsageSession } from '@svc-asr/protocol';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { listAuditLog } from '../../src/accounts/logs/audit-log.ts';
import { runAdmin } from '../../src/admin/program.ts';
import {
  KIKUYU,
  startService,
  type Service,
  type Tenant,
} from '@svc-asr/testing/service/service.ts';
import { framed, speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';

/** Every way a stream can end, and its cost. */

const SECONDS = 30;
const svc = await startService({ script: { texts: ['nĩ wega'] } });
afterAll(() => svc.stop());

interface Opened {
  readonly client: StreamClient;
  readonly tenant: Tenant;
}

async function newStream(at: Service = svc, seconds = SECONDS): Promise<Opened> {
  const tenant = await at.addTenant({ creditMs: 60_000 });
  const { body } = await at.createSession({ model: KIKUYU, max_audio_seconds: seconds }, tenant);
  return { client: await StreamClient.ready(body, { url: at.streamUrl }), tenant };
}

/** Returns the session as its owner sees it, with the balance. */
async function bill(tenant: Tenant, at: Service = svc) {
  const { body } = await at.usage(tenant);
  const [session] = body.recent_sessions;
  if (session === undefined) throw new Error('There is no session.');
  const { status, audio_ms, billable_ms }: UsageSession = session;
  expect(body.available_ms + body.reserved_ms + body.consumed_ms).toBe(60_000);
  return { status, audio_ms, billable_ms, reserved: body.reserved_ms, consumed: body.consumed_ms };
}

/** Polls until the session has ended, for endings that the client can't see. */
function billWhenOver(tenant: Tenant, at: Service = svc) {
  return vi.waitUntil(
    async () => {
      const answer = await bill(tenant, at);
      return answer.status !== 'active' && answer;
    },
    { timeout: 60_000, interval: 10 },
  );
}

describe('ended by the client', () => {
  test('C01 C02 C03 bills 1.2 s of accepted audio as 2 s and returns the rest', async () => {
    const { client, tenant } = await newStream();
    expect((await bill(tenant)).reserved).toBe(SECONDS * 1000);
    for (const frame of framed(speech({ ms: 1_200 }))) client.send(frame);
    expect((await client.flush()).billable_ms).toBe(2_000);
    expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
    expect(await bill(tenant)).toEqual({
      status: 'completed',
      audio_ms: 1_200,
      billable_ms: 2_000,
      reserved: 0,
      consumed: 2_000,
    });
  });

  test('0 samples: completed, nothing billed', async () => {
    const { client, tenant } = await newStream();
    await client.close();
    expect(await bill(tenant)).toMatchObject({ status: 'completed', billable_ms: 0, consumed: 0 });
  });

  test('a client that has seen the close can create its next session at once', async () => {
    const tenant = await svc.addTenant({ creditMs: 60_000 });
    for (let at = 0; at < 20; at += 1) {
      const { status, body } = await svc.createSession({ model: KIKUYU }, tenant);
      expect(status).toBe(201);
      const client = await StreamClient.ready(body, { url: svc.streamUrl });
      client.send(speech({ ms: 20 }));
      await client.close();
    }
    expect((await svc.usage(tenant)).body).toMatchObject({ consumed_ms: 20_000, reserved_ms: 0 });
  });

  test('a flush is answered even if the close frame follows at once; accepted audio is billed', async () => {
    const { client, tenant } = await newStream();
    client.send(speech({ ms: 500 })).say({ type: 'flush', id: 1 });
    expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
    expect(client.ofType('final')).toMatchObject([{ text: 'nĩ wega', reason: 'flush', id: 1 }]);
    expect(await bill(tenant)).toMatchObject({
      status: 'completed',
      audio_ms: 500,
      billable_ms: 1_000,
    });
  });

  test('audio that was not flushed gets its final before the close is answered', async () => {
    const { client } = await newStream();
    client.send(speech({ ms: 500 }));
    expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
    expect(client.ofType('final')).toMatchObject([{ text: 'nĩ wega', reason: 'closing' }]);
  });

  test('a flush before a close gets its final from a recogniser that needs seconds', async () => {
    const slow = await startService({ script: { texts: ['nĩ wega'], chunkMs: 3_000 } });
    const { client, tenant } = await newStream(slow);
    client.send(speech({ ms: 1_500 })).say({ type: 'flush', id: 1 });
    expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
    expect(client.ofType('final')).toMatchObject([{ text: 'nĩ wega', reason: 'flush', id: 1 }]);
    expect(await bill(tenant, slow)).toMatchObject({ status: 'completed', billable_ms: 2_000 });
    await slow.stop();
  });

  test('a close without its final ends with an error after 15 s, and the session is free', async () => {
    const stuck = await startService({ script: { texts: ['nĩ wega'], chunkMs: 600_000 } });
    const { client, tenant } = await newStream(stuck);
    client.send(speech({ ms: 1_500 })).say({ type: 'flush' });
    expect(await client.close()).toEqual({ code: 1011, reason: 'internal_error' });
    expect(client.ofType('error')).toMatchObject([{ code: 'internal_error', fatal: true }]);
    expect(await bill(tenant, stuck)).toMatchObject({ status: 'failed', billable_ms: 0 });
    await stuck.stop();
  });

  test('a client that disconnects without a close frame: completed, accepted audio billed', async () => {
    const { client, tenant } = await newStream();
    await client.send(speech({ ms: 2_000 })).flush();
    client.socket.terminate();
    expect(await billWhenOver(tenant)).toMatchObject({ status: 'completed', billable_ms: 2_000 });
  });

  test('C02 does not charge for idle time, text messages or resets', async () => {
    const { client, tenant } = await newStream();
    await client.flush();
    client.say({ type: 'reset' }).say({ type: 'config' });
    await client.next('config_ack');
    await client.close();
    expect(await bill(tenant)).toMatchObject({ audio_ms: 0, billable_ms: 0 });
  });
});

describe('ended by the limit', () => {
  test('W10 cuts audio at the limit, to the sample: final, max_audio_reached, 1000', async () => {
    const { client, tenant } = await newStream(svc, 2);
    for (const frame of framed(speech({ ms: 2_500 }), 9_001)) client.send(frame);
    expect(await client.next('final')).toMatchObject({
      reason: 'max_audio_reached',
      text: 'nĩ wega',
      total_audio_ms: 2_000,
      billable_ms: 2_000,
    });
    expect(await client.closed).toEqual({ code: 1000, reason: 'max_audio_reached' });
    expect(client.ofType('error')).toEqual([]);
    expect(await bill(tenant)).toMatchObject({
      status: 'completed',
      audio_ms: 2_000,
      consumed: 2_000,
    });
  });
});

describe('ended by a timeout', () => {
  let hasty: Service;
  beforeAll(async () => {
    hasty = await startService({
      script: { texts: ['nĩ wega'] },
      parts: { streamLimits: { idleTimeoutMs: 600, sessionWallClockMs: 1_500 } },
    });
  });
  afterAll(() => hasty.stop());

  test('idle: the last final, idle_timeout, 4408, accepted audio billed', async () => {
    const { client, tenant } = await newStream(hasty);
    client.send(speech({ ms: 1_500 }));
    expect(await client.next('final')).toMatchObject({ reason: 'idle_timeout', text: 'nĩ wega' });
    expect(await client.error('idle_timeout')).toMatchObject({ fatal: true, close_code: 4408 });
    expect(await client.closed).toEqual({ code: 4408, reason: 'idle_timeout' });
    expect(await bill(tenant, hasty)).toMatchObject({ status: 'completed', billable_ms: 2_000 });
  });

  test('wall clock: a warning, the final, session_time_limit, 4408, accepted audio billed', async () => {
    const { client, tenant } = await newStream(hasty);
    const talking = setInterval(() => client.send(speech({ ms: 10 })), 100);
    const warning = await client.status('limit_warning');
    expect(warning).toMatchObject({ limit: 'session_time', remaining_ms: expect.any(Number) });
    expect(await client.closed).toEqual({ code: 4408, reason: 'session_time_limit' });
    clearInterval(talking);
    expect(client.ofType('final')).toMatchObject([
      { reason: 'session_time_limit', text: 'nĩ wega' },
    ]);
    expect(await bill(tenant, hasty)).toMatchObject({ status: 'completed', billable_ms: 1_000 });
  });
});

describe('ended by the service', () => {
  test('C04 the recogniser dies: reported at once, 1011 internal_error, failed, nothing billed', async () => {
    const { client, tenant } = await newStream();
    await client.send(speech({ ms: 2_000 })).flush();
    svc.engine.crash();
    expect(await client.error('internal_error')).toMatchObject({
      retryable: true,
      close_code: 1011,
    });
    expect(await client.closed).toEqual({ code: 1011, reason: 'internal_error' });
    expect(await bill(tenant)).toMatchObject({ status: 'failed', billable_ms: 0, consumed: 0 });
  });

  test('C04 the recogniser hangs: 1011 internal_error, failed, nothing billed', async () => {
    const { client, tenant } = await newStream();
    await client.send(speech({ ms: 1_000 })).flush();
    svc.engine.hang();
    expect(await client.closed).toEqual({ code: 1011, reason: 'internal_error' });
    expect(await bill(tenant)).toMatchObject({ status: 'failed', billable_ms: 0 });
  });

  test('C04 no ready in time: initialization_timeout, 1013, failed, nothing billed', async () => {
    const slow = await startService({
      script: { texts: ['nĩ wega'], openMs: 60_000 },
      parts: { streamLimits: { initializationMs: 500 } },
    });
    const tenant = await slow.addTenant({ creditMs: 60_000 });
    const { body } = await slow.createSession({ model: KIKUYU }, tenant);
    const client = await StreamClient.open(body, { url: slow.streamUrl });
    expect(await client.error('initialization_timeout')).toMatchObject({ retryable: true });
    expect(await client.closed).toEqual({ code: 1013, reason: 'initialization_timeout' });
    expect(await bill(tenant, slow)).toMatchObject({ status: 'failed', billable_ms: 0 });
    await slow.stop();
  });

  test('a stream that the operator ends with svc-admin: session_ended, 4403, accepted audio billed', async () => {
    const { client, tenant } = await newStream();
    await client.send(speech({ ms: 1_000 })).flush();
    const other = await newStream();
    const { recent_sessions: sessions } = (await svc.usage(tenant)).body;
    const id = sessions[0]?.id ?? '';
    const ended = svcAdmin('sessions', 'end', id);
    expect(await client.error('session_ended')).toMatchObject({ fatal: true, close_code: 4403 });
    expect(await client.closed).toEqual({ code: 4403, reason: 'session_ended' });
    expect(await ended).toMatchObject({ status: 0, out: { id, status: 'completed' } });
    expect(await bill(tenant)).toMatchObject({ status: 'completed', billable_ms: 1_000 });
    expect(other.client.socket.readyState).toBe(other.client.socket.OPEN);
    await other.client.close();
    const query = { accountId: tenant.accountId, limit: 10 };
    const { entries } = await listAuditLog(svc.database.pool, query);
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'session.end_requested', target: id }),
    );
  });
});

/** Runs a command with --json. */
async function svcAdmin(...words: readonly string[]): Promise<{ status: number; out: unknown }> {
  let out = '';
  const status = await runAdmin([...words, '--json'], {
    env: { DATABASE_URL: svc.database.url },
    devFolder: '/nowhere',
    out: (text) => void (out += text),
    err: () => {},
  });
  return { status, out: out === '' ? null : JSON.parse(out) };
}

describe('a dead connection', () => {
  test('no byte and no pong for the time allowed: completed, accepted audio billed', async () => {
    const brisk = await startService({
      script: { texts: ['nĩ wega'] },
      parts: { streamLimits: { pingIntervalMs: 200, connectionLostMs: 1_000 } },
    });
    const { client, tenant } = await newStream(brisk);
    await client.send(speech({ ms: 1_000 })).flush();
    client.socket.pause();
    expect(await billWhenOver(tenant, brisk)).toMatchObject({
      status: 'completed',
      billable_ms: 1_000,
    });
    client.socket.terminate();
    await brisk.stop();
  });

  test('keeps a silent client that answers pings', async () => {
    const brisk = await startService({
      parts: { streamLimits: { pingIntervalMs: 100, connectionLostMs: 500 } },
    });
    const { client } = await newStream(brisk);
    let pings = 0;
    await new Promise<void>((resolve) => {
      client.socket.on('ping', () => {
        pings += 1;
        if (pings === 8) resolve();
      });
    });
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    await client.close();
    await brisk.stop();
  });
});
