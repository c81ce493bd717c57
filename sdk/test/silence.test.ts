import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStream, type AsrSession } from '../src/stream.ts';

/** A service that says ready and then nothing more: the one thing that the real one does not do. */
const READY = {
  type: 'ready',
  chunk_samples: 17_920,
  session_id: '6f0c2c0a-0000-4000-8000-000000000000',
  max_audio_ms: 60_000,
  idle_timeout_ms: 60_000,
};

const SESSION: AsrSession = {
  id: READY.session_id,
  object: 'asr.session',
  status: 'reserved',
  model: 'svc-asr-kikuyu-v1',
  websocket_url: 'ws://127.0.0.1',
  websocket_protocols: ['svc.realtime.v1', 'svc.auth.x'],
  expires_at: '2030-01-01T00:00:00Z',
  audio: {
    encoding: 'pcm_s16le',
    sample_rate_hz: 16_000,
    channels: 1,
    max_audio_seconds: 60,
    context_size: [56, 13],
  },
  credits: { unit: 'audio_second', reserved: 60, remaining: 0 },
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
    // In the same breath as the answer: that must not be lost either.
    socket.write(
      Buffer.concat([Buffer.from([0x81, 126, ready.length >> 8, ready.length & 255]), ready]),
    );
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  url = `ws://127.0.0.1:${port}/v1/asr/stream`;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

test('finish() waits ten seconds for a sign of life and then says that it did not come', async () => {
  const stream = openStream({ session: { ...SESSION, websocket_url: url } });
  await stream.write(new Int16Array(16_000));
  const began = performance.now();
  await expect(stream.finish()).rejects.toMatchObject({ code: 'finish_timeout', retryable: true });
  const waitedMs = performance.now() - began;
  expect(waitedMs).toBeGreaterThanOrEqual(9_900);
  expect(waitedMs).toBeLessThan(13_000);
  expect(await stream.closed).toMatchObject({ reason: 'finish_timeout' });
}, 40_000);

test('where nobody answers, the close says so in the network’s own word', async () => {
  const stream = openStream({
    session: { ...SESSION, websocket_url: 'ws://127.0.0.1:9/v1/asr/stream' },
  });
  expect(await stream.closed).toMatchObject({
    code: 1006,
    reason: 'connection_failed',
    retryable: true,
    message: expect.stringContaining('ECONNREFUSED'),
  });
});
