import { afterAll, describe, expect, test } from 'vitest';
import { setConcurrency } from '../../src/accounts/accounts.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { activate } from '../support/activate.ts';
import { DHOLUO, KIKUYU, startService } from '@svc-asr/testing/service/service.ts';
import { backdateSession } from '@svc-asr/testing/postgres/time-travel.ts';

const svc = await startService();
afterAll(() => svc.stop());

const key = (value: string) => ({ 'idempotency-key': value });

/** Creates an account and returns functions that call the API with its key. */
async function tenantWith(creditMs: number) {
  const tenant = await svc.addTenant({ creditMs });
  return {
    ...tenant,
    create: (body: unknown = { model: KIKUYU }, headers: Record<string, string> = {}) =>
      svc.createSession(body, { apiKey: tenant.apiKey, headers }),
    usage: async () => (await svc.usage({ apiKey: tenant.apiKey })).body,
  };
}

describe('the response', () => {
  test('S10 S11 S12 S13 S14 H02 returns a reserved session with every field, its URL and its credential', async () => {
    const tenant = await tenantWith(200_500);
    const before = Date.now();
    const { status, body, headers } = await tenant.create({
      model: DHOLUO,
      max_audio_seconds: 120,
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      object: 'asr.session',
      status: 'reserved',
      model: DHOLUO,
      websocket_url: 'wss://node-1.example.com/v1/asr/stream',
      websocket_protocols: ['svc.realtime.v1', expect.stringMatching(/^svc\.auth\.[\w-]{96}$/)],
      expires_at: expect.any(String),
      audio: {
        encoding: 'pcm_s16le',
        sample_rate_hz: 16_000,
        channels: 1,
        max_audio_seconds: 120,
        context_size: [56, 13],
      },
      credits: { unit: 'audio_second', reserved: 120, remaining: 80 },
    });
    const lifeMs = Date.parse(body.expires_at) - before;
    expect(lifeMs).toBeGreaterThan(59_000);
    expect(lifeMs).toBeLessThan(62_000);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('idempotent-replayed')).toBeNull();
  });

  test('S11 S12 the credential contains the session, the account and the expiry', async () => {
    const tenant = await tenantWith(10_000);
    const { body } = await tenant.create();
    expect(svc.deps.credentials.verify(body.websocket_protocols[1])).toEqual({
      sessionId: body.id,
      accountId: tenant.accountId,
      expiresAtMs: Date.parse(body.expires_at),
    });
  });

  test('ignores a request id from the caller', async () => {
    const mine = '00000000-0000-4000-8000-000000000000';
    const tenant = await tenantWith(10_000);
    const { headers } = await tenant.create({ model: KIKUYU }, { 'x-request-id': mine });
    expect(headers.get('x-request-id')).not.toBe(mine);
  });
});

describe('the reserved audio', () => {
  test.each([
    ['omitted', {}, 60],
    ['at its minimum', { max_audio_seconds: 1 }, 1],
    ['at its maximum', { max_audio_seconds: 300 }, 300],
    ['written 60.0', '{"model":"svc-asr-kikuyu-v1","max_audio_seconds":60.0}', 60],
  ])('S07 accepts max_audio_seconds %s', async (_what, extra, seconds) => {
    const tenant = await tenantWith(3_600_000);
    const sent = typeof extra === 'string' ? extra : { model: KIKUYU, ...extra };
    const { body } = await tenant.create(sent);
    expect(body.audio.max_audio_seconds).toBe(seconds);
    expect(body.credits.reserved).toBe(seconds);
  });

  test('S08 C01 reserves the available whole seconds when there is less credit than requested', async () => {
    const tenant = await tenantWith(7_900);
    const { status, body } = await tenant.create({ model: KIKUYU, max_audio_seconds: 60 });
    expect(status).toBe(201);
    expect(body.audio.max_audio_seconds).toBe(7);
    expect(body.credits).toEqual({ unit: 'audio_second', reserved: 7, remaining: 0 });
    expect(await tenant.usage()).toMatchObject({ available_ms: 900, reserved_ms: 7_000 });
  });

  test('S08 exactly one second of credit is enough', async () => {
    const { body } = await (await tenantWith(1_000)).create();
    expect(body.credits).toMatchObject({ reserved: 1, remaining: 0 });
  });

  test('C05 returns an expired reservation of the account before it makes the next one', async () => {
    const tenant = await tenantWith(60_000);
    const first = await tenant.create();
    await backdateSession(svc.database.pool, { sessionId: first.body.id, ms: 60_000 });
    const second = await tenant.create();
    expect(second.status).toBe(201);
    expect(second.body.credits).toMatchObject({ reserved: 60, remaining: 0 });
    const { recent_sessions } = await tenant.usage();
    expect(recent_sessions.map((session) => session.status)).toEqual(['reserved', 'expired']);
  });

  test('an account with a higher limit has that many sessions at once', async () => {
    const tenant = await tenantWith(600_000);
    await setConcurrency(svc.database.pool, { id: tenant.accountId, limit: 3 });
    for (const expected of [201, 201, 201, 429]) {
      expect((await tenant.create()).status).toBe(expected);
    }
  });
});

describe('Idempotency-Key', () => {
  test('S16 a replay with explicit defaults returns the same response and credential', async () => {
    const tenant = await tenantWith(100_000);
    const first = await tenant.create({ model: KIKUYU }, key('order-1'));
    const replay = await tenant.create({ max_audio_seconds: 60, model: KIKUYU }, key('order-1'));
    expect(replay.status).toBe(201);
    expect(replay.body).toEqual(first.body);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(replay.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await tenant.usage()).toMatchObject({ available_ms: 40_000, reserved_ms: 60_000 });
  });

  test('S16 a replay after activation returns the same response', async () => {
    const tenant = await tenantWith(100_000);
    const first = await tenant.create({ model: KIKUYU }, key('order-2'));
    await activate(svc, { sessionId: first.body.id, accountId: tenant.accountId });
    const replay = await tenant.create({ model: KIKUYU }, key('order-2'));
    expect(replay.body).toEqual(first.body);
  });

  test('S16 creates a new session for the same key after expires_at', async () => {
    const tenant = await tenantWith(100_000);
    const first = await tenant.create({ model: KIKUYU }, key('order-3'));
    await backdateSession(svc.database.pool, { sessionId: first.body.id, ms: 60_000 });
    const second = await tenant.create({ model: KIKUYU }, key('order-3'));
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    expect(second.headers.get('idempotent-replayed')).toBeNull();
  });

  test('S16 concurrent requests with one key get one reservation', async () => {
    const tenant = await tenantWith(100_000);
    const twins = await Promise.all(
      Array.from({ length: 8 }, () => tenant.create({ model: KIKUYU }, key('order-4'))),
    );
    expect(new Set(twins.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await tenant.usage()).toMatchObject({ available_ms: 40_000, reserved_ms: 60_000 });
  });

  test('S16 does not store refusals: the same key works after credit is added', async () => {
    const tenant = await tenantWith(0);
    expect((await tenant.create({ model: KIKUYU }, key('order-5'))).status).toBe(402);
    await createLedger(svc.database.pool).grant({
      accountId: tenant.accountId,
      ms: 5_000,
      reason: 'top up',
      actor: 'test',
      id: crypto.randomUUID(),
    });
    expect((await tenant.create({ model: KIKUYU }, key('order-5'))).status).toBe(201);
  });

  test('S15 accepts a key of 128 characters with every allowed character', async () => {
    const longest = 'aZ09._:-'.repeat(16);
    expect(longest).toHaveLength(128);
    const tenant = await tenantWith(100_000);
    expect((await tenant.create({ model: KIKUYU }, key(longest))).status).toBe(201);
  });

  test('S16 the same key in two accounts makes two reservations', async () => {
    const [a, b] = [await tenantWith(60_000), await tenantWith(60_000)];
    const first = await a.create({ model: KIKUYU }, key('shared'));
    const second = await b.create({ model: KIKUYU }, key('shared'));
    expect(second.body.id).not.toBe(first.body.id);
  });
});
