import { afterAll, describe, expect, test } from 'vitest';
import { activate } from '../support/activate.ts';
import { setConcurrency } from '../../src/accounts/accounts.ts';
import { heldClock } from '../support/fixed-clock.ts';
import { KIKUYU, startService, type Tenant } from '@svc-asr/testing/service/service.ts';
import { backdateSession } from '@svc-asr/testing/postgres/time-travel.ts';

const svc = await startService();
afterAll(() => svc.stop());

describe('concurrency', () => {
  test('S18 H03 returns 429 while a session is reserved, with its remaining life as Retry-After', async () => {
    const { apiKey } = await svc.addTenant({ creditMs: 600_000 });
    const { body: first } = await svc.createSession({ model: KIKUYU }, { apiKey });
    await backdateSession(svc.database.pool, { sessionId: first.id, ms: 18_000 });
    const { status, body, headers } = await svc.refusedSession({ model: KIKUYU }, { apiKey });
    expect(status).toBe(429);
    expect(body.error).toMatchObject({
      type: 'rate_limit_error',
      code: 'concurrency_limit_exceeded',
      message: expect.stringMatching(
        /already has an active or reserved ASR session.*a reserved one/,
      ),
    });
    const wait = Number(headers.get('retry-after'));
    expect(wait).toBeGreaterThan(35);
    expect(wait).toBeLessThanOrEqual(42);
  });

  test('S18 H03 returns 429 while a session is active, with a Retry-After of 5', async () => {
    const { apiKey, accountId } = await svc.addTenant({ creditMs: 600_000 });
    const { body: first } = await svc.createSession({ model: KIKUYU }, { apiKey });
    const end = await activate(svc, { sessionId: first.id, accountId });
    const { body, headers } = await svc.refusedSession({ model: KIKUYU }, { apiKey });
    expect(body.error.code).toBe('concurrency_limit_exceeded');
    expect(body.error.message).toContain('an active one');
    expect(headers.get('retry-after')).toBe('5');
    await end({ status: 'completed', samples: 16_000 });
    expect((await svc.createSession({ model: KIKUYU }, { apiKey })).status).toBe(201);
  });

  test('S18 H03 with an active session, a reserved one does not make Retry-After longer', async () => {
    const { apiKey, accountId } = await svc.addTenant({ creditMs: 600_000 });
    await setConcurrency(svc.database.pool, { id: accountId, limit: 2 });
    const { body: first } = await svc.createSession({ model: KIKUYU }, { apiKey });
    await activate(svc, { sessionId: first.id, accountId });
    await svc.createSession({ model: KIKUYU }, { apiKey });
    const { headers } = await svc.refusedSession({ model: KIKUYU }, { apiKey });
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(5);
  });

  test('S18 returns 429 before 402 when a live session holds all credit', async () => {
    const { apiKey } = await svc.addTenant({ creditMs: 60_000 });
    await svc.createSession({ model: KIKUYU }, { apiKey });
    const { status } = await svc.refusedSession({ model: KIKUYU }, { apiKey });
    expect(status).toBe(429);
  });
});

describe('failed sessions', () => {
  test('C04 never lock an account out; they are logged and counted', async () => {
    const env = { METRICS_TOKEN: 'metrics-token', RATE_SESSIONS: '30/10' };
    const tenant = await svc.addTenant({ creditMs: 600_000 });
    for (let n = 0; n < 6; n += 1) await failSession(tenant);
    // Polls when it starts, with the default settings.
    const fresh = await startService({ database: svc.database, env });
    try {
      expect((await fresh.createSession({ model: KIKUYU }, tenant)).status).toBe(201);
      expect(fresh.logged()).toContain(
        `"accountId":"${tenant.accountId}","failed":6,"msg":"Many sessions of an account failed`,
      );
      const headers = { authorization: 'Bearer metrics-token' };
      const metrics = await (await fetch(`${fresh.url}/metrics`, { headers })).text();
      expect(metrics).toContain('svc_accounts_failing 1');
    } finally {
      await fresh.stop();
    }
  });
});

/** Creates a session and fails it as its node would. */
async function failSession(tenant: Tenant): Promise<void> {
  const { body } = await svc.createSession({ model: KIKUYU }, tenant);
  const end = await activate(svc, { sessionId: body.id, accountId: tenant.accountId });
  await end({ status: 'failed', samples: 16_000 });
}

describe('request rates', () => {
  test('H03 returns 429 for the eleventh request at once; the headers count down', async () => {
    const limited = await startService({
      env: { RATE_SESSIONS: '30/10' },
      parts: { clock: heldClock },
    });
    try {
      const answers = [];
      for (let n = 0; n < 11; n += 1) answers.push(await limited.refusedSession());
      const [first, last] = [answers[0], answers[10]];
      expect(first?.status).toBe(201);
      expect(first?.headers.get('ratelimit-policy')).toBe('"sessions";q=30;w=60');
      expect(first?.headers.get('ratelimit')).toBe('"sessions";r=9;t=2');
      expect(last?.status).toBe(429);
      expect(last?.body.error.code).toBe('request_rate_exceeded');
      expect(last?.headers.get('retry-after')).toBe('2');
      expect(last?.headers.get('ratelimit')).toBe('"sessions";r=0;t=2');
      const other = await limited.addTenant({ creditMs: 60_000 });
      expect((await limited.createSession(undefined, other)).status).toBe(201);
    } finally {
      await limited.stop();
    }
  });

  test('H03 returns 429 for wrong keys above the limit of their address, never for a valid key', async () => {
    const limited = await startService({
      env: { RATE_FAILED_AUTHENTICATION: '20' },
      parts: { clock: heldClock },
    });
    try {
      for (let n = 0; n < 20; n += 1) {
        expect((await limited.refusedSession(undefined, { apiKey: 'wrong' })).status).toBe(401);
      }
      const { status, body, headers } = await limited.refusedSession(undefined, {
        apiKey: 'wrong',
      });
      expect(status).toBe(429);
      expect(body.error.code).toBe('request_rate_exceeded');
      expect(headers.get('retry-after')).toBe('3');
      expect(headers.get('ratelimit-policy')).toBe('"failed-authentication";q=20;w=60');
      expect(headers.get('ratelimit')).toBe('"failed-authentication";r=0;t=3');
      expect((await limited.usage()).status).toBe(200);
      expect((await limited.createSession()).status).toBe(201);
    } finally {
      await limited.stop();
    }
  });
});
