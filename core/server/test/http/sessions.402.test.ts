import { afterAll, expect, test } from 'vitest';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService();
afterAll(() => svc.stop());

test.each([0, 1, 999])('S09 returns 402 with %d ms of credit', async (creditMs) => {
  const { apiKey } = await svc.addTenant({ creditMs });
  const { status, body } = await svc.refusedSession({ model: KIKUYU }, { apiKey });
  expect(status).toBe(402);
  expect(body.error).toMatchObject({ type: 'insufficient_credits', code: 'insufficient_credits' });
  const usage = await svc.usage({ apiKey });
  expect(usage.body).toMatchObject({ available_ms: creditMs, reserved_ms: 0, recent_sessions: [] });
});
