import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeApiKey } from '../src/accounts/api-keys.ts';
import { assembleApiKey, generateApiKey } from '../src/api-key-format.ts';
import { eventually } from './eventually.ts';
import { KIKUYU, startService, type Service } from './service.ts';

let svc: Service;
beforeAll(async () => {
  svc = await startService();
});
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

test('S01 no key', async () => {
  expect(await refusal({})).toBe('missing_api_key');
  expect(await refusal({ authorization: '' })).toBe('missing_api_key');
  expect(await refusal({ authorization: `Basic ${svc.apiKey}` })).toBe('missing_api_key');
  expect(await refusal({ authorization: svc.apiKey })).toBe('missing_api_key');
});

test('S01 what is no key', async () => {
  expect(await bearer('x')).toBe('invalid_api_key');
  expect(await bearer('svc_live_v1_')).toBe('invalid_api_key');
  expect(await bearer(`${svc.apiKey}0`)).toBe('invalid_api_key');
  expect(await bearer('sk_live_0123456789')).toBe('invalid_api_key');
});

test('S01 a key with the wrong CRC is refused without asking the database', async () => {
  const last = svc.apiKey.at(-1) === '0' ? '1' : '0';
  const asked = await countQueries(() => bearer(svc.apiKey.slice(0, -1) + last));
  expect(asked).toEqual({ result: 'invalid_api_key', queries: 0 });
  const unknown = await countQueries(() => bearer(generateApiKey().key));
  expect(unknown).toEqual({ result: 'invalid_api_key', queries: 1 });
});

test('S01 an unknown key, and a known id with another secret', async () => {
  const { key } = generateApiKey();
  expect(await bearer(key)).toBe('invalid_api_key');
  const forged = forgeKey(svc.keyId);
  expect(await bearer(forged)).toBe('invalid_api_key');
});

test('S01 an expired key, named so only to whoever knows its secret', async () => {
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  const expired = await svc.addKey(tenant.accountId, { expiresAt: new Date(Date.now() - 1_000) });
  expect(await bearer(expired.apiKey)).toBe('expired_api_key');
  expect(await bearer(forgeKey(expired.keyId))).toBe('invalid_api_key');
});

test('S01 a revoked key, named so only to whoever knows its secret', async () => {
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  await revokeApiKey(svc.database.pool, { accountId: tenant.accountId, id: tenant.keyId });
  expect(await bearer(tenant.apiKey)).toBe('revoked_api_key');
  expect(await bearer(forgeKey(tenant.keyId))).toBe('invalid_api_key');
});

test('S01 a revocation reaches a process that has just used the key within 5 s', async () => {
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

test('401 comes before anything about the body', async () => {
  const { status } = await svc.request('/v1/asr/sessions', {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'x'.repeat(20_000),
  });
  expect(status).toBe(401);
});

/** A well-formed key with a known id, as a guesser would make it: right checksum, wrong secret. */
function forgeKey(publicId: string): string {
  return assembleApiKey(publicId, 'x'.repeat(32));
}

/** How often the service took a database connection meanwhile. */
async function countQueries<T>(work: () => Promise<T>): Promise<{ result: T; queries: number }> {
  let queries = 0;
  const count = () => {
    queries += 1;
  };
  svc.deps.db.on('acquire', count);
  const result = await work();
  svc.deps.db.off('acquire', count);
  return { result, queries };
}
