import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { ClientSocket } from '@svc-asr/runtime/client-socket.ts';
import { listen } from '@svc-asr/runtime/listen.ts';
import { DEFAULT_LIMITS } from '../src/index.ts';
import { startCompatibleService, type CompatibleService } from './compatible-service.ts';
import { ListenClient } from './deepgram/listen-client.ts';

/** Clients that neither send nor read. */

let service: CompatibleService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

async function start(limits: Partial<typeof DEFAULT_LIMITS>): Promise<CompatibleService> {
  service = await startCompatibleService({ config: { limits: { ...DEFAULT_LIMITS, ...limits } } });
  return service;
}

test('a Deepgram socket without audio and KeepAlive is told why it closes, and frees its session', async () => {
  const { url, emulator, server } = await start({ listenIdleMs: 300 });
  const client = await ListenClient.open(url, { key: emulator.apiKey });
  expect(await client.closed).toMatchObject({ code: 1011 });
  expect(client.messages.at(-1)).toMatchObject({
    type: 'Error',
    description: expect.stringContaining('No audio and no KeepAlive'),
  });
  await expect.poll(() => server.metrics.text()).toMatch(/^svc_compatible_streams 0$/m);
});

test('a Realtime socket that sends nothing is closed', async () => {
  const { url, emulator } = await start({ realtimeIdleMs: 300 });
  const address = `${url.replace('http', 'ws')}/v1/realtime?intent=transcription`;
  const headers = { authorization: `Bearer ${emulator.apiKey}` };
  const [code, reason] = await once(new WebSocket(address, { headers }), 'close');
  expect([code, String(reason)]).toEqual([1000, 'idle']);
});

test('a client that does not read is cut off after a megabyte, and no sooner', async () => {
  const http = createServer();
  const port = await listen(http);
  const accepted = once(new WebSocketServer({ server: http }), 'connection');
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  const [[raw]] = await Promise.all([accepted, once(client, 'open')]);
  client.pause();
  const socket = new ClientSocket(raw);
  const message = { type: 'Results', text: 'a'.repeat(64 * 1024) };
  let highest = 0;
  while (raw.readyState !== WebSocket.CLOSED) {
    socket.send(message);
    highest = Math.max(highest, raw.bufferedAmount);
    await new Promise(setImmediate);
  }
  expect(highest).toBeGreaterThan(1024 * 1024);
  expect(highest).toBeLessThan(1.2 * 1024 * 1024);
  await socket.closed;
  client.terminate();
  http.close();
});
