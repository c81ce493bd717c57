import { afterAll, expect, test } from 'vitest';
import { setAccountStatus } from '../../src/accounts/accounts.ts';
import { DHOLUO, KIKUYU, startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService();
afterAll(() => svc.stop());

test('S02 returns 403 for a suspended account before it checks the body', async () => {
  const { accountId, apiKey } = await svc.addTenant({ creditMs: 60_000 });
  await setAccountStatus(svc.database.pool, { id: accountId, status: 'suspended' });
  const { status, body } = await svc.refusedSession('no json', { apiKey });
  expect(status).toBe(403);
  expect(body.error).toMatchObject({ type: 'permission_error', code: 'account_inactive' });
});

test('S02 reserves nothing for a suspended account whose key is still cached', async () => {
  const { accountId, apiKey } = await svc.addTenant({ creditMs: 60_000 });
  expect((await svc.usage({ apiKey })).status).toBe(200);
  await setAccountStatus(svc.database.pool, { id: accountId, status: 'suspended' });
  const { status, body } = await svc.refusedSession({ model: KIKUYU }, { apiKey });
  expect(status).toBe(403);
  expect(body.error.code).toBe('account_inactive');
});

test('S02 returns 403 unless the model is in the scope of the key', async () => {
  const { accountId } = await svc.addTenant({ creditMs: 60_000 });
  const { apiKey } = await svc.addKey(accountId, { scopes: [DHOLUO] });
  const { status, body } = await svc.refusedSession({ model: KIKUYU }, { apiKey });
  expect(status).toBe(403);
  expect(body.error).toMatchObject({ type: 'permission_error', code: 'model_scope_denied' });
  expect((await svc.createSession({ model: DHOLUO }, { apiKey })).status).toBe(201);
});
