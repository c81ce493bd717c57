import { afterAll, expect, test } from 'vitest';
import { DHOLUO, KIKUYU, startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService();
afterAll(() => svc.stop());

test.each([
  ['another model', { model: DHOLUO }],
  ['another length', { model: KIKUYU, max_audio_seconds: 61 }],
])('S17 returns 409 for the same key with %s', async (_what, other) => {
  const { apiKey } = await svc.addTenant({ creditMs: 100_000 });
  const options = { apiKey, headers: { 'idempotency-key': 'order-9' } };
  const first = await svc.createSession({ model: KIKUYU }, options);
  const { status, body } = await svc.refusedSession(other, options);
  expect(status).toBe(409);
  expect(body.error).toMatchObject({ type: 'idempotency_conflict', code: 'idempotency_conflict' });
  const again = await svc.createSession({ model: KIKUYU }, options);
  expect(again.body).toEqual(first.body);
});

test('S17 checks the key before concurrency (S18) and credit', async () => {
  const { apiKey } = await svc.addTenant({ creditMs: 60_000 });
  const options = { apiKey, headers: { 'idempotency-key': 'order-10' } };
  await svc.createSession({ model: KIKUYU }, options);
  expect((await svc.refusedSession({ model: DHOLUO }, options)).status).toBe(409);
  expect((await svc.refusedSession({ model: DHOLUO }, { apiKey })).status).toBe(429);
});
