import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encode } from '@svc-asr/testing/speech/audio-files.ts';
import { DEFAULT_CONFIG, DOORS, startCompatible, type CompatibleServer } from '../src/index.ts';
import { WebSocket } from 'ws';
import { ListenClient } from './deepgram/listen-client.ts';

/** What clients see while the service behind this program is down. */

let server: CompatibleServer;
let apiKey: string;
beforeAll(async () => {
  const emulator = await startEmulatorOn(await createTestDatabase());
  ({ apiKey } = emulator);
  const limits = { ...DEFAULT_CONFIG.limits, sessionWaitMs: 500 };
  const config = { ...DEFAULT_CONFIG, port: 0, baseUrl: emulator.url, limits };
  server = await startCompatible(config, { doors: DOORS, log: () => undefined });
  await emulator.stop();
});
afterAll(() => server.stop());

test('a file is refused with 503 and a sentence', async () => {
  const form = new FormData();
  form.append('model', 'svc-asr-kikuyu-v1');
  form.append('file', new Blob([new Uint8Array(await encode('wav'))]), 'speech.wav');
  const headers = { authorization: `Bearer ${apiKey}` };
  const address = `${server.url}/v1/audio/transcriptions`;
  const refused = await fetch(address, { method: 'POST', headers, body: form });
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ error: { message: SENTENCE } });
});

test('a Deepgram handshake is refused with 503 and the sentence', async () => {
  await expect(ListenClient.open(server.url, { key: apiKey })).rejects.toMatchObject({
    status: 503,
    body: { err_msg: SENTENCE },
  });
});

test('a Realtime client gets the sentence as an error event when it sends audio', async () => {
  const address = `${server.url.replace('http', 'ws')}/v1/realtime?model=svc-asr-kikuyu-v1&intent=transcription`;
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${apiKey}` } });
  const messages: unknown[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  socket.once('open', () => {
    const audio = Buffer.alloc(9_600).toString('base64');
    socket.send(JSON.stringify({ type: 'input_audio_buffer.append', audio }));
    socket.send(JSON.stringify({ type: 'input_audio_buffer.commit' }));
  });
  await expect
    .poll(() => messages)
    .toContainEqual(
      expect.objectContaining({
        type: 'error',
        error: expect.objectContaining({ message: SENTENCE }),
      }),
    );
  socket.terminate();
});

const SENTENCE = expect.stringMatching(/cannot be reached/);
