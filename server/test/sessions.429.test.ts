import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { activate } from './activate.ts';
import { heldClock } from './held-clock.ts';
import { KIKUYU, startService, type Service, type Tenant } from './service.ts';
import { makeEndOlder, makeOlder } from './time-travel.ts';

let svc: Service;
beforeAll(async () => {
  svc = await startService();
});
afterAll(() => svc.stop());

describe('one session at a time', () => {
  test('S18 H03 a reserved session blocks for as long as it would live', async () => {
    const { apiKey } = await svc.addTenant({ creditMs: 600_000 });
    const { body: first } = await svc.createSession({ model: KIKUYU }, { apiKey });
    await makeOlder(svc.database.pool, { sessionId: first.id, ms: 18_000 });
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

  test('S18 H03 an active session blocks, and nobody knows for how long', async () => {
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

  test('S18 comes before credit: an account that spent all on its live session is told of that', async () => {
    const { apiKey } = await svc.addTenant({ creditMs: 60_000 });
    await svc.createSession({ model: KIKUYU }, { apiKey });
    const { status } = await svc.refusedSession({ model: KIKUYU }, { apiKey });
    expect(status).toBe(429);
  });
});

/** Created through one process, failed as a node would fail it. */
async function failSession(through: Service, tenant: Tenant): Promise<string> {
  const { body } = await through.createSession({ model: KIKUYU }, tenant);
  const end = await activate(svc, { sessionId: body.id, accountId: tenant.accountId });
  await end({ status: 'failed', samples: 16_000 });
  return body.id;
}

/** A process that looks at the failures as it starts. */
async function withLimit<T>(ask: (limited: Service) => Promise<T>): Promise<T> {
  const env = { FAILED_SESSIONS_PER_HOUR: '5' };
  const limited = await startService({ database: svc.database, env });
  try {
    return await ask(limited);
  } finally {
    await limited.stop();
  }
}

describe('failures are free, so they are counted', () => {
  test('H03 the sixth within an hour is one too many, until it is older than that', async () => {
    const tenant = await svc.addTenant({ creditMs: 600_000 });
    const other = await svc.addTenant({ creditMs: 600_000 });
    for (let n = 0; n < 5; n += 1) await failSession(svc, tenant);
    const sixth = await withLimit((limited) => failSession(limited, tenant));
    await withLimit(async (limited) => {
      const { status, body, headers } = await limited.refusedSession({ model: KIKUYU }, tenant);
      expect(status).toBe(429);
      expect(body.error).toMatchObject({
        type: 'rate_limit_error',
        code: 'request_rate_exceeded',
        message: expect.stringContaining('failed within the hour'),
      });
      const wait = Number(headers.get('retry-after'));
      expect(wait).toBeGreaterThan(3_500);
      expect(wait).toBeLessThanOrEqual(3_600);
      expect(limited.logged()).toContain(tenant.accountId);
      expect((await limited.createSession({ model: KIKUYU }, other)).status).toBe(201);
    });
    await makeEndOlder(svc.database.pool, { sessionId: sixth, ms: 3_600_000 });
    await withLimit(async (limited) => {
      expect((await limited.createSession({ model: KIKUYU }, tenant)).status).toBe(201);
    });
  });
});

describe('so many requests a minute', () => {
  test('H03 the eleventh at once is too many; the headers count down and tell when', async () => {
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

  test('H03 too many wrong keys from one address shut out even a right one, before any work on it', async () => {
    const limited = await startService({
      env: { RATE_FAILED_AUTHENTICATION: '20' },
      parts: { clock: heldClock },
    });
    try {
      for (let n = 0; n < 20; n += 1) {
        expect((await limited.refusedSession(undefined, { apiKey: 'wrong' })).status).toBe(401);
      }
      const { status, body, headers } = await limited.refusedSession();
      expect(status).toBe(429);
      expect(body.error.code).toBe('request_rate_exceeded');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('ratelimit-policy')).toBe('"failed-authentication";q=20;w=60');
      expect(headers.get('ratelimit')).toBe('"failed-authentication";r=0;t=3');
      expect((await limited.models()).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});
