import { afterAll, beforeAll, expect, test } from 'vitest';
import { setAccountStatus } from '../src/accounts/accounts.ts';
import { DHOLUO, KIKUYU, startService, type Service } from './service.ts';

let svc: Service;
beforeAll(async () => {
  svc = await startService();
});
afterAll(() => svc.stop());

test('S02 a suspended account, before anything about its body', async () => {
  const { accountId, apiKey } = await svc.addTenant({ creditMs: 60_000 });
  await setAccountStatus(svc.database.pool, { id: accountId, status: 'suspended' });
  const { status, body } = await svc.refusedSession('no json', { apiKey });
  expect(status).toBe(403);
  expect(body.error).toMatchObject({ type: 'permission_error', code: 'account_inactive' });
});

test('S02 an account suspended while its key is still remembered reserves nothing', async () => {
  const { accountId, apiKey } = await svc.addTenant({ creditMs: 60_000 });
  expect((await svc.usage({ apiKey })).status).toBe(200);
  await setAccountStatus(svc.database.pool, { id: accountId, status: 'suspended' });
  const { status, body } = await svc.refusedSession({ model: KIKUYU }, { apiKey });
  expect(status).toBe(403);
  expect(body.error.code).toBe('account_inactive');
});

test('S02 a key without the model in its scope; with it, it works', async () => {
  const { accountId } = await svc.addTenant({ creditMs: 60_000 });
  const { apiKey } = await svc.addKey(accountId, { scopes: [DHOLUO] });
  const { status, body } = await svc.refusedSession({ model: KIKUYU }, { apiKey });
  expect(status).toBe(403);
  expect(body.error).toMatchObject({ type: 'permission_error', code: 'model_scope_denied' });
  expect((await svc.createSession({ model: DHOLUO }, { apiKey })).status).toBe(201);
});
