import { createServer } from 'node:net';
import { listen } from '@svc-asr/runtime/listen.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPort } from './open-port.ts';

const other = createServer();
let port = 0;
beforeAll(async () => {
  port = await listen(other, 0, '127.0.0.2');
});
afterAll(() => void other.close());

test('says which addresses it cannot listen on, and listens on the others', async () => {
  const hosts = ['127.0.0.1', '127.0.0.2'];
  const open = await openPort({ hosts, port }, (socket) => socket.destroy());
  const missed = [{ address: '127.0.0.2', problem: expect.stringContaining('EADDRINUSE') }];
  expect(open).toMatchObject({ port, missed });
  await open.close();
});

test('refuses to serve nowhere, and says why', async () => {
  const opening = openPort({ hosts: ['127.0.0.2'], port }, (socket) => socket.destroy());
  await expect(opening).rejects.toThrow(/cannot listen on port \d+: Error: listen EADDRINUSE/);
});
