import { afterAll, expect, test } from 'vitest';
import { heldClock } from '../support/fixed-clock.ts';
import { startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService({
  env: { RATE_USAGE: '60', RATE_MODELS: '120' },
  parts: { clock: heldClock },
});
afterAll(() => svc.stop());

test('U01 H03 returns 429 for the 61st request at once, for this account only', async () => {
  for (let n = 0; n < 60; n += 1) expect((await svc.usage()).status).toBe(200);
  const refused = await svc.request('/v1/usage', {
    headers: { authorization: `Bearer ${svc.apiKey}` },
  });
  expect(refused.status).toBe(429);
  expect(refused.body.error).toMatchObject({
    type: 'rate_limit_error',
    code: 'request_rate_exceeded',
  });
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(refused.headers.get('ratelimit-policy')).toBe('"usage";q=60;w=60');
  expect((await svc.usage(await svc.addTenant({ creditMs: 0 }))).status).toBe(200);
});

test('M01 H03 models: returns 429 for the 121st request at once from one address', async () => {
  for (let n = 0; n < 120; n += 1) expect((await svc.models()).status).toBe(200);
  const { status, headers } = await svc.models();
  expect(status).toBe(429);
  expect(headers.get('retry-after')).toBe('1');
});
