import { afterAll, beforeAll, expect, test } from 'vitest';
import { DHOLUO, KIKUYU, startService, type Service } from './service.ts';

let svc: Service;
beforeAll(async () => {
  svc = await startService();
});
afterAll(() => svc.stop());

test.each([
  ['another model', { model: DHOLUO }],
  ['another length', { model: KIKUYU, max_audio_seconds: 61 }],
])('S17 the same key with %s', async (_what, other) => {
  const { apiKey } = await svc.addTenant({ creditMs: 100_000 });
  const options = { apiKey, headers: { 'idempotency-key': 'order-9' } };
  const first = await svc.createSession({ model: KIKUYU }, options);
  const { status, body } = await svc.refusedSession(other, options);
  expect(status).toBe(409);
  expect(body.error).toMatchObject({ type: 'idempotency_conflict', code: 'idempotency_conflict' });
  const again = await svc.createSession({ model: KIKUYU }, options);
  expect(again.body).toEqual(first.body);
});

test('S17 is decided before concurrency and credit, and S18 after it', async () => {
  const { apiKey } = await svc.addTenant({ creditMs: 60_000 });
  const options = { apiKey, headers: { 'idempotency-key': 'order-10' } };
  await svc.createSession({ model: KIKUYU }, options);
  expect((await svc.refusedSession({ model: DHOLUO }, options)).status).toBe(409);
  expect((await svc.refusedSession({ model: DHOLUO }, { apiKey })).status).toBe(429);
});
