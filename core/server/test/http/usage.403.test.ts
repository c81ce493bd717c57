import { afterAll, expect, test } from 'vitest';
import { setAccountStatus } from '../../src/accounts/accounts.ts';
import { DHOLUO, startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService();
afterAll(() => svc.stop());

test('U01 returns 403 for a suspended account', async () => {
  const { accountId, apiKey } = await svc.addTenant({ creditMs: 1_000 });
  await setAccountStatus(svc.database.pool, { id: accountId, status: 'suspended' });
  const { status, body } = await svc.request('/v1/usage', {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  expect(status).toBe(403);
  expect(body.error).toMatchObject({ type: 'permission_error', code: 'account_inactive' });
});

test('U01 a key for one model reads the whole balance', async () => {
  const { accountId } = await svc.addTenant({ creditMs: 1_000 });
  const { apiKey } = await svc.addKey(accountId, { scopes: [DHOLUO] });
  expect((await svc.usage({ apiKey })).body.available_ms).toBe(1_000);
});
