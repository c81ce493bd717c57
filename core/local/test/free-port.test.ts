import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listen } from '@svc-asr/runtime/listen.ts';
import { claimPort, freePort } from '../src/free-port.ts';

test('a free port stays reserved for the process that asked for it', async () => {
  const port = await freePort();
  expect(await claimPort(port)).toBe(false);
});

test('the kernel never gives a free port to another connection or server', async () => {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const [first = 0] = range.split('\t').map(Number);
  expect(await freePort()).toBeLessThan(first);
});

test('a port in use is not free', async () => {
  const server = createServer();
  const port = await listen(server);
  expect(await claimPort(port)).toBe(false);
  server.close();
});
