import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';

const PER_ADDRESS = 3;
const PATH = '/docs/search.json';
/** Requests sent at once: the kernel's buffers hold about 4 MB, more than the largest file. */
const PIPELINED = 12;

let svc: Service;
const stalled: Socket[] = [];
beforeAll(async () => {
  svc = await startService({ env: { CONNECTIONS_PER_ADDRESS: String(PER_ADDRESS) } });
  // Loads the file once, so that the connections below wait for their client, not for the server.
  await (await fetch(svc.url + PATH)).arrayBuffer();
});
afterAll(async () => {
  for (const socket of stalled) socket.destroy();
  await svc.stop();
});

/** Requests the largest file several times and reads its first bytes only. */
async function stall(): Promise<Socket> {
  const { hostname, port } = new URL(svc.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => socket.destroy());
  stalled.push(socket);
  socket.write(`GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(PIPELINED));
  await once(socket, 'readable');
  return socket;
}

test('a connection above the limit of an address closes its longest-stalled one', async () => {
  const first = await stall();
  await stall();
  await stall();
  const response = await fetch(`${svc.url}/v1/models`, { headers: { connection: 'close' } });
  expect(response.status).toBe(200);
  // Drains the kernel's buffers. The service has closed the connection long before the keep-alive timeout.
  const began = performance.now();
  first.resume();
  await once(first, 'close');
  expect(performance.now() - began).toBeLessThan(10_000);
});
