import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXAMPLE_SESSION } from '@svc-asr/protocol/documents/examples.ts';
import { listen } from '@svc-asr/runtime/listen.ts';
import { openStream } from '../src/stream.ts';

/** A service that sends `ready` and then nothing, which the real service never does. */
const READY = {
  type: 'ready',
  chunk_samples: 17_920,
  session_id: EXAMPLE_SESSION.id,
  max_audio_ms: 60_000,
  idle_timeout_ms: 60_000,
};

let server: Server;
let url: string;
const sockets: Duplex[] = [];
beforeAll(async () => {
  server = createServer();
  server.on('upgrade', (request, socket) => {
    sockets.push(socket);
    const nonce = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(nonce).digest('base64');
    const ready = Buffer.from(JSON.stringify(READY));
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: svc.realtime.v1\r\n\r\n`,
    );
    // In the same packet as the 101, which must not be lost.
    socket.write(
      Buffer.concat([Buffer.from([0x81, 126, ready.length >> 8, ready.length & 255]), ready]),
    );
    socket.resume();
  });
  const port = await listen(server);
  url = `ws://127.0.0.1:${port}/v1/asr/stream`;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

test('finish() rejects with finish_timeout after ten seconds of silence', async () => {
  const stream = openStream({ session: { ...EXAMPLE_SESSION, websocket_url: url } });
  await stream.write(new Int16Array(16_000));
  const began = performance.now();
  await expect(stream.finish()).rejects.toMatchObject({ code: 'finish_timeout', retryable: true });
  const waitedMs = performance.now() - began;
  expect(waitedMs).toBeGreaterThanOrEqual(9_900);
  expect(waitedMs).toBeLessThan(13_000);
  expect(await stream.closed).toMatchObject({ reason: 'finish_timeout' });
});

test('names the network error when nothing listens at the address', async () => {
  const stream = openStream({
    session: { ...EXAMPLE_SESSION, websocket_url: 'ws://127.0.0.1:9/v1/asr/stream' },
  });
  expect(await stream.closed).toMatchObject({
    code: 1006,
    reason: 'connection_failed',
    retryable: true,
    message: expect.stringContaining('ECONNREFUSED'),
  });
});
