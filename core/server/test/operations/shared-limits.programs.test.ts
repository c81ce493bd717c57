import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { createAccountWithKey } from '@svc-asr/local/account-with-key.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { startRedis, type TestRedis } from '@svc-asr/testing/redis.ts';
import { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { startService } from '@svc-asr/testing/service/service.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateSecrets, parseConfig } from '../../src/config.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createLog } from '../../src/platform/observe/log.ts';
import { createSharedRateLimiter } from '../../src/platform/network/rate-limit.ts';
import { connectRedisCounts } from '../../src/platform/network/redis-counts.ts';

const UNAVAILABLE = 'Redis is unavailable. Each process counts rate limits on its own.';
const AVAILABLE = 'Redis is available again. Rate limits are shared.';
const FALLBACKS = 'svc_rate_limit_fallbacks_total';
let database: TestDatabase;
let redis: TestRedis;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), startRedis()]);
});
afterAll(async () => {
  await Promise.all([database.drop(), redis.stop()]);
});

async function wrongKey(url: string): Promise<number> {
  const headers = { authorization: 'Bearer svc_live_v1_wrong' };
  return (await fetch(`${url}/v1/usage`, { headers })).status;
}

function metric(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

async function metricsOf(url: string): Promise<string> {
  const headers = { authorization: 'Bearer metrics-token' };
  return (await fetch(`${url}/metrics`, { headers })).text();
}

/** Asks for sessions, whose limit is another one, until Redis counts them: a process that starts slowly first counts on its own. */
async function untilShared({ url }: { url: string }, apiKey: string): Promise<void> {
  const fallbacks = async () => metric(await metricsOf(url), FALLBACKS);
  await eventually(async () => {
    const before = await fallbacks();
    const headers = { authorization: `Bearer ${apiKey}` };
    const asked = await fetch(`${url}/v1/asr/sessions`, { method: 'POST', headers });
    expect(asked.headers.has('ratelimit')).toBe(true);
    return (await fallbacks()) === before;
  });
}

test('two API processes share one limit', async () => {
  const secrets = generateSecrets();
  const pepper = Buffer.from(secrets.API_KEY_PEPPER, 'base64');
  const { apiKey } = await createAccountWithKey(database.pool, { creditMs: 0, pepper });
  const env = {
    ...secrets,
    ROLE: 'api',
    PORT: '0',
    DATABASE_URL: database.url,
    PUBLIC_STREAM_URL: 'wss://node-1.example.com/v1/asr/stream',
    RATE_FAILED_AUTHENTICATION: '1/6',
    REDIS_URL: redis.url,
    METRICS_TOKEN: 'metrics-token',
  };
  const processes = await Promise.all([
    ServiceProcess.start({ ...env, NODE_ID: 'api-1' }),
    ServiceProcess.start({ ...env, NODE_ID: 'api-2' }),
  ]);
  try {
    for (const process of processes) await untilShared(process, apiKey);
    const statuses: number[] = [];
    for (let turn = 0; turn < 10; turn += 1) {
      statuses.push(await wrongKey(processes[turn % 2]?.url ?? ''));
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429, 429, 429, 429]);
  } finally {
    await Promise.all(processes.map((process) => process.stop()));
  }
});

test('two processes that ask at the same moment never allow more than the burst', async () => {
  const log = createLog({ level: 'silent' });
  const counts = await Promise.all(
    Array.from({ length: 2 }, () =>
      connectRedisCounts({ url: redis.url, clock: systemClock, log }),
    ),
  );
  try {
    const policy = { perMinute: 1, burst: 50 };
    for (const own of counts) {
      await eventually(async () => (await own.take('another caller', policy)) !== null);
    }
    const before = counts.map(({ fallbacks }) => fallbacks);
    const limiters = counts.map((own) =>
      createSharedRateLimiter(policy, { name: 'race', counts: own, clock: systemClock }),
    );
    const decisions = await Promise.all(
      Array.from({ length: 200 }, async (_, at) => limiters[at % 2]?.take('one caller')),
    );
    expect(counts.map(({ fallbacks }) => fallbacks)).toEqual(before);
    expect(decisions.filter((decision) => decision?.allowed)).toHaveLength(50);
    const refused = decisions.find((decision) => !decision?.allowed);
    expect(refused).toMatchObject({ remaining: 0, resetSeconds: 60 });
  } finally {
    for (const own of counts) own.close();
  }
});

test('while Redis hangs each process counts on its own, answers at once and logs it once', async () => {
  const own = await startRedis();
  const svc = await startService({
    database,
    env: { REDIS_URL: own.url, RATE_FAILED_AUTHENTICATION: '1/3', METRICS_TOKEN: 'metrics-token' },
  });
  const outages = (): number => svc.logged().split(UNAVAILABLE).length - 1;
  try {
    await untilShared(svc, (await svc.addTenant({ creditMs: 0 })).apiKey);
    const before = await metricsOf(svc.url);
    expect(metric(before, 'svc_rate_limits_shared')).toBe(1);
    const outagesBefore = outages();
    own.hang();
    const startedAt = performance.now();
    const statuses: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) statuses.push(await wrongKey(svc.url));
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect(outages()).toBe(outagesBefore + 1);
    const during = await metricsOf(svc.url);
    expect(metric(during, 'svc_rate_limits_shared')).toBe(0);
    expect(metric(during, FALLBACKS) - metric(before, FALLBACKS)).toBe(5);

    own.resume();
    await eventually(async () => {
      await wrongKey(svc.url);
      return metric(await metricsOf(svc.url), 'svc_rate_limits_shared') === 1;
    });
    expect(svc.logged()).toContain(AVAILABLE);
  } finally {
    await svc.stop();
    await own.stop();
  }
});

test('the service starts without Redis, and uses it when it becomes available', async () => {
  const port = await freePort();
  const env = { REDIS_URL: `redis://:a-password@127.0.0.1:${port}` };
  const svc = await startService({ database, env });
  try {
    expect((await svc.createSession()).status).toBe(201);
    expect(svc.logged()).toContain(UNAVAILABLE);
    expect(svc.logged()).not.toContain('a-password');
    const late = await startRedis({ port, password: 'a-password' });
    try {
      await eventually(async () => {
        await wrongKey(svc.url);
        return svc.logged().includes(AVAILABLE);
      });
    } finally {
      await late.stop();
    }
    expect(await wrongKey(svc.url)).toBe(401);
  } finally {
    await svc.stop();
  }
});

test('Redis on another machine needs TLS', () => {
  const env = {
    ...generateSecrets(),
    DATABASE_URL: 'postgres://svc@127.0.0.1/svc',
    PUBLIC_STREAM_URL: 'wss://localhost/v1/asr/stream',
  };
  const withRedis = (url: string) => () => parseConfig({ ...env, REDIS_URL: url });
  expect(withRedis('redis://10.0.0.5')).toThrow('REDIS_URL must use TLS beyond this machine');
  expect(withRedis('http://10.0.0.5')).toThrow('REDIS_URL must be a URL that begins with redis:');
  expect(withRedis('rediss://10.0.0.5').call(null).limits.redisUrl).toBe('rediss://10.0.0.5');
});
