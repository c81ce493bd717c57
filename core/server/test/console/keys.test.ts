import type { CreditBalance, ErrorBody } from '@svc-asr/protocol';
import type { KeyList, NewKey } from '@svc-asr/protocol/console/console.ts';
import { afterAll, expect, test } from 'vitest';
import { setKeyLimit } from '../../src/accounts/accounts.ts';
import { startConsoleService } from '../support/console/console-service.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';

const service = await startConsoleService();
afterAll(() => service.stop());

function callWith(secret: string) {
  return service.request<CreditBalance | ErrorBody>('/v1/usage', {
    headers: { authorization: `Bearer ${secret}` },
  });
}

function lifeDays(key: NewKey['key']): number {
  return (Date.parse(key.expires_at ?? '') - Date.parse(key.created_at)) / 86_400_000;
}

test('K01 a key begins svc_live_v1_, is shown once and cannot be found in the database', async () => {
  const browser = await service.signedIn('k01@example.com');
  const { secret, key } = await browser.createKey('production server');
  expect(secret).toMatch(/^svc_live_v1_[0-9A-Za-z]{50}$/);
  expect((await callWith(secret)).status).toBe(200);
  const list = await browser.get<KeyList>('/keys');
  expect(JSON.stringify(list.body)).not.toContain(secret);
  expect(list.body.data).toEqual([{ ...key, last_used_at: null }]);
  const { rows } = await service.database.pool.query<{ dump: string }>(
    `select string_agg(k::text, ' ') as dump from api_keys k`,
  );
  const hidden = secret.slice('svc_live_v1_'.length + 12);
  expect(rows[0]?.dump).not.toContain(hidden);
  expect(service.logged()).not.toContain(hidden);
});

test('K02 waitlist, approval, key in the console: the key works at once', async () => {
  const browser = await service.signedIn('k02@example.com');
  const { secret } = await browser.createKey();
  const session = await service.createSession({ model: KIKUYU }, { apiKey: secret });
  expect(session.status).toBe(201);
});

test('a revoked key is refused within 5 seconds, and the other key still works', async () => {
  const browser = await service.signedIn('revoke@example.com');
  const first = await browser.createKey('first');
  const second = await browser.createKey('second');
  expect((await callWith(first.secret)).status).toBe(200);
  await browser.post(`/keys/${first.key.id}/revoke`);
  const began = performance.now();
  await expect
    .poll(async () => (await callWith(first.secret)).status, { timeout: 5_000, interval: 100 })
    .toBe(401);
  expect(performance.now() - began).toBeLessThan(5_000);
  expect((await callWith(second.secret)).status).toBe(200);
});

test('rotation keeps name, models and expiry, works at the limit of keys, and waits for the old key to be revoked', async () => {
  const browser = await service.signedIn('rotate@example.com');
  const rules = { name: 'phone line', models: [KIKUYU], expires_in_days: 30 };
  const first = await browser.post<NewKey>('/keys', rules);
  const rotated = await browser.post<NewKey>(`/keys/${first.body.key.id}/rotate`);
  expect(rotated.status).toBe(201);
  expect(rotated.body.key).toMatchObject({ name: 'phone line', models: [KIKUYU], status: 'live' });
  expect(lifeDays(rotated.body.key)).toBeCloseTo(30, 2);
  const again = await browser.post<ErrorBody>(`/keys/${first.body.key.id}/rotate`);
  expect([again.status, again.body.error.code]).toEqual([409, 'key_already_rotated']);
  const list = await browser.get<KeyList>('/keys');
  expect(list.body).toMatchObject({ may_create: true, limit: 10 });
  expect(list.body.data.map(({ successor }) => successor)).toEqual([null, rotated.body.key.id]);
  expect((await callWith(first.body.secret)).status).toBe(200);
  expect((await callWith(rotated.body.secret)).status).toBe(200);
});

test('refuses a key above the limit, which an operator can change', async () => {
  const browser = await service.signedIn('limit@example.com');
  const id = await service.accountOf('limit@example.com');
  await setKeyLimit(service.database.pool, { id, limit: 2 });
  await browser.createKey('first');
  const { key } = await browser.createKey('second');
  expect((await browser.get<KeyList>('/keys')).body).toMatchObject({ may_create: false, limit: 2 });
  const rules = { name: 'third', models: [KIKUYU], expires_in_days: null };
  const third = await browser.post<ErrorBody>('/keys', rules);
  expect([third.status, third.body.error.code]).toEqual([409, 'key_limit_reached']);
  expect((await browser.post(`/keys/${key.id}/rotate`)).status).toBe(201);
  await setKeyLimit(service.database.pool, { id, limit: 3 });
  expect((await browser.post('/keys', rules)).status).toBe(201);
});

test('a key that may use one model is refused for the other', async () => {
  const browser = await service.signedIn('scope@example.com');
  const rules = { name: 'kikuyu only', models: [KIKUYU], expires_in_days: null };
  const { body } = await browser.post<NewKey>('/keys', rules);
  const refused = await service.refusedSession(
    { model: 'svc-asr-dholuo-v1' },
    { apiKey: body.secret },
  );
  expect(refused.body.error.code).toBe('model_scope_denied');
});
