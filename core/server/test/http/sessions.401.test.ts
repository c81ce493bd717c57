import { afterAll, expect, test } from 'vitest';
import { revokeApiKey } from '../../src/accounts/keys/api-keys.ts';
import { assembleApiKey } from '@svc-asr/runtime/api-key.ts';
import { generateApiKey } from '../../src/accounts/keys/format.ts';
import { countStatements } from '../support/count-statements.ts';
import { sendRaw } from '../support/raw-http.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';

const svc = await startService();
afterAll(() => svc.stop());

async function refusal(headers: Record<string, string>) {
  const {
    status,
    body,
    headers: answered,
  } = await svc.refusedSession({ model: KIKUYU }, { apiKey: null, headers });
  expect(status).toBe(401);
  expect(answered.get('www-authenticate')).toBe('Bearer');
  expect(body.error.type).toBe('authentication_error');
  return body.error.code;
}
const bearer = (key: string) => refusal({ authorization: `Bearer ${key}` });

test('S01 returns 401 missing_api_key without a bearer key', async () => {
  expect(await refusal({})).toBe('missing_api_key');
  expect(await refusal({ authorization: '' })).toBe('missing_api_key');
  expect(await refusal({ authorization: `Basic ${svc.apiKey}` })).toBe('missing_api_key');
  expect(await refusal({ authorization: svc.apiKey })).toBe('missing_api_key');
});

test('S01 returns 401 invalid_api_key for malformed keys', async () => {
  expect(await bearer('x')).toBe('invalid_api_key');
  expect(await bearer('svc_live_v1_')).toBe('invalid_api_key');
  expect(await bearer(`${svc.apiKey}0`)).toBe('invalid_api_key');
  expect(await bearer('sk_live_0123456789')).toBe('invalid_api_key');
});

test('S01 refuses a key with a wrong checksum without a database query', async () => {
  const last = svc.apiKey.at(-1) === '0' ? '1' : '0';
  const asked = await countLookups(() => bearer(svc.apiKey.slice(0, -1) + last));
  expect(asked).toEqual({ result: 'invalid_api_key', statements: 0 });
  const unknown = await countLookups(() => bearer(generateApiKey().key));
  expect(unknown).toEqual({ result: 'invalid_api_key', statements: 1 });
});

test('S01 refuses an unknown key, and a known id with another secret', async () => {
  const { key } = generateApiKey();
  expect(await bearer(key)).toBe('invalid_api_key');
  const forged = forgeKey(svc.keyId);
  expect(await bearer(forged)).toBe('invalid_api_key');
});

test('S01 reports an expired key as expired only if its secret matches', async () => {
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  const expired = await svc.addKey(tenant.accountId, { expiresAt: new Date(Date.now() - 1_000) });
  expect(await bearer(expired.apiKey)).toBe('expired_api_key');
  expect(await bearer(forgeKey(expired.keyId))).toBe('invalid_api_key');
});

test('S01 reports a revoked key as revoked only if its secret matches', async () => {
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  await revokeApiKey(svc.database.pool, { accountId: tenant.accountId, id: tenant.keyId });
  expect(await bearer(tenant.apiKey)).toBe('revoked_api_key');
  expect(await bearer(forgeKey(tenant.keyId))).toBe('invalid_api_key');
});

test('S01 refuses a revoked key within 5 s in a process that has cached it', async () => {
  const other = await startService({ database: svc.database });
  try {
    const tenant = await svc.addTenant({ creditMs: 60_000 });
    const asTenant = { apiKey: tenant.apiKey };
    expect((await svc.usage(asTenant)).status).toBe(200);
    expect((await other.usage(asTenant)).status).toBe(200);
    await revokeApiKey(svc.database.pool, { accountId: tenant.accountId, id: tenant.keyId });
    const began = performance.now();
    for (const process of [svc, other]) {
      await eventually(async () => (await process.usage(asTenant)).status === 401);
    }
    expect(performance.now() - began).toBeLessThan(5_000);
  } finally {
    await other.stop();
  }
});

test('S01 refuses two different Authorization headers, whichever comes first, and accepts equal ones', async () => {
  const valid = `Authorization: Bearer ${svc.apiKey}\r\n`;
  const other = 'authorization: Bearer svc_live_v1_other\r\n';
  const usage = (lines: string) =>
    sendRaw(svc.url, `GET /v1/usage HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}\r\n`);
  for (const lines of [valid + other, other + valid]) {
    const { status, body } = await usage(lines);
    expect(status).toBe(401);
    expect(JSON.parse(body).error.message).toContain('different Authorization headers');
  }
  expect((await usage(valid + valid)).status).toBe(200);
});

test('returns 401 before it looks at the body', async () => {
  const { status } = await svc.request('/v1/asr/sessions', {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'x'.repeat(20_000),
  });
  expect(status).toBe(401);
});

/** A key with a known id, a valid checksum and a wrong secret. */
function forgeKey(publicId: string): string {
  return assembleApiKey(publicId, 'x'.repeat(32));
}

const countLookups = <T>(work: () => Promise<T>) =>
  countStatements(svc.deps.db, 'from api_keys', work);
