import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import * as fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { listen } from '../src/listen.ts';
import { guarded, guardHttpServer, readTarget } from '../src/server-guard.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function listening(listener?: ReturnType<typeof guarded>): Promise<number> {
  server = createServer(listener);
  guardHttpServer(server);
  return listen(server);
}

test('a reset after a refused upgrade closes the socket and nothing else', async () => {
  const port = await listening();
  const closed = Promise.withResolvers<unknown>();
  server.on('upgrade', (_, socket) => {
    socket.once('close', () => closed.resolve('closed'));
    client.once('close', () => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'.repeat(10_000)));
    client.resetAndDestroy();
  });
  const client = connect(port, '127.0.0.1');
  client.write('GET // HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
  // Without the guard the error is uncaught, and the test run fails.
  expect(await closed.promise).toBe('closed');
});

test.each(['throws', 'rejects'])('a handler that %s is answered with 500', async (how) => {
  const port = await listening(
    guarded(() => {
      if (how === 'throws') throw new Error('broken');
      return Promise.reject(new Error('broken'));
    }),
  );
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(500);
});

test('readTarget never throws, and keeps path and query', () => {
  fc.assert(fc.property(fc.string(), (url) => readTarget({ url }).path === url.split('?')[0]));
  expect(readTarget({ url: '//' }).path).toBe('//');
  expect(readTarget({ url: '/a/b?rate=8000&x=%' }).query.get('rate')).toBe('8000');
});
