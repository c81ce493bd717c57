import { eventually } from '@svc-asr/testing/eventually.ts';
import { allowConnections } from '@svc-asr/testing/postgres/allow-connections.ts';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, expect, test } from 'vitest';

const svc = await startService();
afterAll(() => svc.stop());

test('a database that refuses connections when a stream ends delays the settlement, and the next session follows', async () => {
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  const { body } = await svc.createSession({ model: KIKUYU }, tenant);
  const client = await StreamClient.ready(body, { url: svc.streamUrl });
  await client.send(speech({ ms: 1_200 })).flush();
  await allowConnections(svc.database.url, false);
  expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
  const refused = await svc.refusedSession({ model: KIKUYU }, tenant);
  expect(refused.body.error.code).toBe('service_unavailable');
  await allowConnections(svc.database.url, true);
  // The longest pause between two attempts is a second.
  await eventually(async () => (await svc.createSession(undefined, tenant)).status === 201, 10_000);
  expect((await svc.usage(tenant)).body).toMatchObject({
    consumed_ms: 2_000,
    recent_sessions: [{ status: 'reserved' }, { status: 'completed', billable_ms: 2_000 }],
  });
});
