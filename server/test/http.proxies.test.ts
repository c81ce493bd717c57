import { expect, test } from 'vitest';
import { createTestDatabase } from './database.ts';
import { heldClock } from './held-clock.ts';
import { startService } from './service.ts';

async function statusesFrom(trustedProxies: string, forwarded: readonly string[]) {
  const database = await createTestDatabase();
  const svc = await startService({
    database,
    env: { RATE_MODELS: '1', TRUSTED_PROXIES: trustedProxies },
    parts: { clock: heldClock },
  });
  try {
    const statuses: number[] = [];
    for (const address of forwarded) {
      const headers = { 'x-forwarded-for': address };
      statuses.push((await svc.request('/v1/models', { headers })).status);
    }
    return statuses;
  } finally {
    await svc.stop();
    await database.drop();
  }
}

test('X-Forwarded-For is not believed when no proxy is trusted', async () => {
  expect(await statusesFrom('0', ['192.0.2.1', '192.0.2.2'])).toEqual([200, 429]);
});

test('behind one proxy the last address counts, whatever the caller wrote before it', async () => {
  const asked = ['192.0.2.1', '192.0.2.2', '192.0.2.9, 192.0.2.1', '2001:db8::1', '2001:db8::2'];
  expect(await statusesFrom('1', asked)).toEqual([200, 200, 429, 200, 429]);
});
