import { afterAll, beforeAll, expect, test } from 'vitest';
import { KIKUYU, startService, type Service } from './service.ts';

let svc: Service;
beforeAll(async () => {
  svc = await startService();
});
afterAll(() => svc.stop());

test.each([0, 1, 999])('S09 %d ms of credit is nothing to reserve', async (creditMs) => {
  const { apiKey } = await svc.addTenant({ creditMs });
  const { status, body } = await svc.refusedSession({ model: KIKUYU }, { apiKey });
  expect(status).toBe(402);
  expect(body.error).toMatchObject({ type: 'insufficient_credits', code: 'insufficient_credits' });
  const usage = await svc.usage({ apiKey });
  expect(usage.body).toMatchObject({ available_ms: creditMs, reserved_ms: 0, recent_sessions: [] });
});
