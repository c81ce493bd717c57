import { eventually } from '@svc-asr/testing/eventually.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  startServiceBehindProxy,
  type ServiceBehindProxy,
} from '../support/service-behind-proxy.ts';

let behind: ServiceBehindProxy;
beforeAll(async () => {
  behind = await startServiceBehindProxy();
});
afterAll(() => behind.stop());

async function isLeaseHeld(): Promise<boolean> {
  const text = await behind.svc.deps.metrics.registry.metrics();
  return /^svc_lease_held 1/m.test(text);
}

test('after an outage that the lease did not survive, the first upgrade opens its stream as soon as usage answers', async () => {
  const { svc, proxy } = behind;
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  const { body: session } = await svc.createSession({ model: KIKUYU }, tenant);
  proxy.set('cut');
  await eventually(async () => !(await isLeaseHeld()), 20_000);
  proxy.set('open');
  await eventually(async () => (await svc.usage(tenant)).status === 200);
  const client = await StreamClient.ready(session, { url: svc.streamUrl });
  expect(await isLeaseHeld()).toBe(true);
  await client.close();
});
