import { randomBytes } from 'node:crypto';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';
import { expect, test } from 'vitest';
import { countKeysByPepper } from '../../src/accounts/keys/api-keys.ts';
import { parsePeppers } from '../../src/accounts/keys/peppers.ts';

const OLD = randomBytes(32).toString('base64');
const NEW = randomBytes(32).toString('base64');

async function usage(service: Service, apiKey: string): Promise<number> {
  return (await service.usage({ apiKey })).status;
}

test('a pepper is replaced while keys keep working, without a moment of downtime', async () => {
  const database = await createTestDatabase();
  const start = (API_KEY_PEPPER: string): Promise<Service> =>
    startService({ database, env: { API_KEY_PEPPER } });
  const before = await start(OLD);
  const { apiKey, accountId } = before;
  const unused = await before.addTenant({ creditMs: 1_000 });

  // Step 1: every process learns the new pepper, and the old one stays current.
  const learning = await start(`0:${OLD},7:${NEW}`);
  await before.stop();
  // Step 2: the new one becomes current, one process at a time.
  const current = await start(`7:${NEW},0:${OLD}`);
  expect(await usage(current, apiKey)).toBe(200);
  await eventually(async () => {
    const { rows } = await database.pool.query<{ pepper_id: number }>(
      'select pepper_id from api_keys where account_id = $1',
      [accountId],
    );
    return rows[0]?.pepper_id === 7;
  });
  // The rehashed key works in a process that still prefers the old pepper, and is hashed back there.
  expect(await usage(learning, apiKey)).toBe(200);
  await learning.stop();
  expect(await usage(current, apiKey)).toBe(200);
  await eventually(async () => {
    await usage(current, apiKey);
    const counts = await countKeysByPepper(database.pool);
    return counts.find(({ pepper_id: id }) => id === 7) !== undefined;
  });

  // Step 3: the old pepper goes once no working key needs it.
  expect(await usage(current, unused.apiKey)).toBe(200);
  const after = await start(`7:${NEW}`);
  await eventually(async () => (await usage(after, unused.apiKey)) === 200);
  expect(await usage(after, apiKey)).toBe(200);
  for (const service of [current, after]) await service.stop();
  await database.drop();
});

test('a key whose pepper is not configured is refused like an unknown key', async () => {
  const database = await createTestDatabase();
  const first = await startService({ database, env: { API_KEY_PEPPER: `1:${OLD}` } });
  const other = await startService({ database, env: { API_KEY_PEPPER: `2:${NEW}` } });
  const key = await other.addKey(first.accountId);
  expect((await other.usage({ apiKey: key.apiKey })).status).toBe(200);
  expect((await first.usage({ apiKey: key.apiKey })).status).toBe(401);
  await first.stop();
  await other.stop();
  await database.drop();
});

test('peppers are parsed strictly', () => {
  expect(parsePeppers(OLD)).toMatchObject([{ id: 0 }]);
  expect(parsePeppers(`1:${NEW},0:${OLD}`)?.map(({ id }) => id)).toEqual([1, 0]);
  for (const text of ['', 'short', `1:${OLD},1:${NEW}`, `256:${OLD}`, `x:${OLD}`, `${OLD},`]) {
    expect(parsePeppers(text), text).toBeNull();
  }
});
