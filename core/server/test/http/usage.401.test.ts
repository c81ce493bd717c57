import { afterAll, expect, test } from 'vitest';
import { revokeApiKey } from '../../src/accounts/keys/api-keys.ts';
import { generateApiKey } from '../../src/accounts/keys/format.ts';
import { startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService();
afterAll(() => svc.stop());

async function codeFor(apiKey: string | null) {
  const { status, body } = await svc.request('/v1/usage', {
    headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
  });
  expect(status).toBe(401);
  return body.error.code;
}

test('U01 returns 401 for missing, malformed and unknown keys', async () => {
  expect(await codeFor(null)).toBe('missing_api_key');
  expect(await codeFor('svc_live_v1_short')).toBe('invalid_api_key');
  expect(await codeFor(generateApiKey().key)).toBe('invalid_api_key');
});

test('U01 returns 401 for expired and revoked keys', async () => {
  const { accountId, keyId, apiKey } = await svc.addTenant({ creditMs: 1_000 });
  const expired = await svc.addKey(accountId, { expiresAt: new Date(Date.now() - 1) });
  expect(await codeFor(expired.apiKey)).toBe('expired_api_key');
  await revokeApiKey(svc.database.pool, { accountId, id: keyId });
  expect(await codeFor(apiKey)).toBe('revoked_api_key');
});
