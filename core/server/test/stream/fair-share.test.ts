import { expect, test, vi } from 'vitest';
import { setConcurrency } from '../../src/accounts/accounts.ts';
import { KIKUYU, startService, type Service } from '@svc-asr/testing/service/service.ts';
import { refused, speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';

/** Slots of a nearly full node are shared between accounts. */

const CAPACITY = 5;

async function hoard(svc: Service, count: number): Promise<StreamClient[]> {
  await setConcurrency(svc.database.pool, { id: svc.accountId, limit: 10 });
  const clients: StreamClient[] = [];
  for (let at = 0; at < count; at += 1) {
    const { body } = await svc.createSession({ model: KIKUYU });
    const client = await StreamClient.ready(body, { url: svc.streamUrl });
    clients.push(client.send(speech({ ms: 500 })));
  }
  return clients;
}

test('an idle stream of the account that fills a node gives way with slot_reclaimed, after its final', async () => {
  const svc = await startService({
    script: { texts: ['nĩ wega'] },
    capacity: CAPACITY,
    parts: { streamLimits: { reclaimIdleMs: 300 } },
  });
  const clients = await hoard(svc, CAPACITY);
  const ended = await Promise.race(clients.map((one) => one.closed.then(() => one)));
  expect(await ended.closed).toEqual({ code: 4408, reason: 'slot_reclaimed' });
  expect(ended.ofType('final')).toMatchObject([{ reason: 'idle_timeout', text: 'nĩ wega' }]);
  const newcomer = await svc.addTenant({ creditMs: 60_000 });
  // The list of nodes may show this one as full for a few seconds.
  const session = await vi.waitUntil(async () => {
    const { status, body } = await svc.createSession({ model: KIKUYU }, newcomer);
    return status === 201 && body;
  }, 30_000);
  const client = await StreamClient.ready(session, { url: svc.streamUrl });
  expect((await client.send(speech({ ms: 500 })).flush()).text).toBe('nĩ wega');
  await client.close();
  for (const other of clients) other.socket.terminate();
  await svc.stop();
});

test('refuses an account above its share of a nearly full node and accepts a new one', async () => {
  const svc = await startService({ script: { texts: ['nĩ wega'] }, capacity: CAPACITY });
  const held = await hoard(svc, 3);
  const second = await svc.addTenant({ creditMs: 60_000 });
  const { body: its } = await svc.createSession({ model: KIKUYU }, second);
  const client = await StreamClient.ready(its, { url: svc.streamUrl });
  const { body: more } = await svc.createSession({ model: KIKUYU });
  const refusal = await refused(svc.streamUrl, more.websocket_protocols);
  expect(refusal).toMatchObject({ status: 503, body: { error: { code: 'capacity_exceeded' } } });
  const third = await svc.addTenant({ creditMs: 60_000 });
  const { body: last } = await svc.createSession({ model: KIKUYU }, third);
  const newcomer = await StreamClient.ready(last, { url: svc.streamUrl });
  for (const stream of [...held, client, newcomer]) await stream.close();
  await svc.stop();
});

test('two zero bytes now and then hold no slots of a full node', async () => {
  const svc = await startService({
    script: { texts: ['nĩ wega'] },
    capacity: CAPACITY,
    parts: { streamLimits: { reclaimIdleMs: 1_000 } },
  });
  const clients = await hoard(svc, CAPACITY);
  const trickle = setInterval(() => {
    for (const { socket } of clients) {
      if (socket.readyState === socket.OPEN) socket.send(Buffer.alloc(2));
    }
  }, 100);
  const ended = await Promise.race(clients.map((one) => one.closed));
  expect(ended).toEqual({ code: 4408, reason: 'slot_reclaimed' });
  clearInterval(trickle);
  for (const other of clients) other.socket.terminate();
  await svc.stop();
});

test('a refused account gets a slot of one that holds more than its share and hardly speaks', async () => {
  const svc = await startService({
    script: { texts: ['nĩ wega'] },
    capacity: CAPACITY,
    parts: { streamLimits: { reclaimIdleMs: 3_000 } },
  });
  const newcomer = await svc.addTenant({ creditMs: 60_000 });
  // Reserved before the node is full, so that placement has a node for it.
  const { body: session } = await svc.createSession({ model: KIKUYU }, newcomer);
  const clients = await hoard(svc, CAPACITY);
  // Less than a third of real time: too much to be idle, too little to be busy.
  const trickle = setInterval(() => {
    for (const { socket } of clients) {
      if (socket.readyState === socket.OPEN) socket.send(speech({ ms: 60 }));
    }
  }, 200);
  const client = await vi.waitUntil(
    () => StreamClient.ready(session, { url: svc.streamUrl }).catch(() => null),
    { timeout: 50_000, interval: 200 },
  );
  expect((await client.send(speech({ ms: 500 })).flush()).text).toBe('nĩ wega');
  const closed = clients.filter(({ socket }) => socket.readyState !== socket.OPEN);
  expect(closed).toHaveLength(1);
  expect(await closed[0]?.closed).toEqual({ code: 4408, reason: 'slot_reclaimed' });
  clearInterval(trickle);
  await client.close();
  for (const other of clients) other.socket.terminate();
  await svc.stop();
});
