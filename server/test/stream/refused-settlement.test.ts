import { eventually } from '@svc-asr/testing/eventually.ts';
import { withDatabase } from '@svc-asr/testing/postgres/local-postgres.ts';
import { onServer } from '@svc-asr/testing/postgres/test-database.ts';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, expect, test } from 'vitest';

const svc = await startService();
afterAll(() => svc.stop());

async function allowConnections(allow: boolean): Promise<void> {
  const { url } = svc.database;
  const name = new URL(url).pathname.slice(1);
  await onServer(withDatabase(url, 'postgres'), async (db) => {
    await db.query(`alter database ${name} allow_connections ${allow}`);
    if (allow) return;
    await db.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
      name,
    ]);
  });
}

test('a database that refuses connections when a stream ends delays the settlement, and the next session follows', async () => {
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  const { body } = await svc.createSession({ model: KIKUYU }, tenant);
  const client = await StreamClient.ready(body, { url: svc.streamUrl });
  await client.send(speech({ ms: 1_200 })).flush();
  await allowConnections(false);
  expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
  const refused = await svc.refusedSession({ model: KIKUYU }, tenant);
  expect(refused.body.error.code).toBe('service_unavailable');
  await allowConnections(true);
  // The longest pause between two attempts is a second.
  await eventually(async () => (await svc.createSession(undefined, tenant)).status === 201, 10_000);
  expect((await svc.usage(tenant)).body).toMatchObject({
    consumed_ms: 2_000,
    recent_sessions: [{ status: 'reserved' }, { status: 'completed', billable_ms: 2_000 }],
  });
});
