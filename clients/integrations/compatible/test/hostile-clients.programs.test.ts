import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { assembleApiKey } from '@svc-asr/runtime/api-key.ts';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { encode } from '@svc-asr/testing/speech/audio-files.ts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { CompatibleServer, Limits } from '../src/index.ts';
import { startWithLimits } from './compatible-service.ts';
import { ListenClient } from './deepgram/listen-client.ts';

/** Clients that want more than their share, or somebody else's. */

/** Anyone can make one up: its checksum is right, but the service doesn't know it. */
const MADE_UP = assembleApiKey('Z'.repeat(12), 'q'.repeat(32));
const BOUNDARY = 'parts';
const QUERY = 'model=svc-asr-kikuyu-v1';
/** The first bytes of an MP4 file, which waits on the disk. */
const MP4_HEAD = Buffer.from('\0\0\0\u0018ftypisom\0\0\0\0isommp42', 'latin1');

let emulator: Emulator;
let server: CompatibleServer;
let url: string;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase());
});
afterAll(() => emulator.stop());
afterEach(() => server.stop());

async function start(limits: Partial<Limits> = {}): Promise<void> {
  server = await startWithLimits(emulator, limits);
  url = server.url;
}

function part(disposition: string, body: string | Buffer): Buffer {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(body), Buffer.from('\r\n')]);
}

/** Sends the beginning of a form whose end never comes. */
function beginForm({ key, parts }: { readonly key: string; readonly parts: readonly Buffer[] }): {
  readonly answered: Promise<number>;
  write(bytes: string): void;
  cut(): void;
} {
  const upload = request(`${url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    },
  });
  upload.on('error', () => undefined);
  const answered = once(upload, 'response').then(
    ([response]: IncomingMessage[]) => response?.statusCode ?? 0,
    () => 0,
  );
  upload.write(Buffer.concat(parts));
  return {
    answered,
    write: (bytes) => void upload.write(bytes),
    cut: () => void upload.destroy(),
  };
}

async function post(key: string): Promise<Response> {
  const form = new FormData();
  form.append('model', 'svc-asr-kikuyu-v1');
  form.append('file', new Blob([new Uint8Array(await encode('wav'))]), 'a.wav');
  return fetch(`${url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
}

function openWithMadeUpKey(): WebSocket {
  return new WebSocket(`${url.replace('http', 'ws')}/v1/realtime`, {
    headers: { authorization: `Bearer ${MADE_UP}` },
  });
}

function metric(name: string): number {
  const line = server.metrics.text().match(new RegExp(`^${name} (.*)$`, 'm'));
  return Number(line?.[1] ?? 0);
}

const MODEL = part('name="model"', 'svc-asr-kikuyu-v1');

test('a key that the service does not know starts no decoder and stores no file', async () => {
  await start();
  const parts = [MODEL, part('name="file"; filename="a"', MP4_HEAD)];
  const upload = beginForm({ key: MADE_UP, parts });
  expect(await upload.answered).toBe(401);
  expect(server.metrics.text()).not.toMatch(/^svc_compatible_decodes_total\{/m);
  upload.cut();
});

test('one account uses only its share of the decoders', async () => {
  await start({ decodersPerAccount: 1 });
  const parts = [MODEL, part('name="file"; filename="a"', MP4_HEAD)];
  const upload = beginForm({ key: emulator.apiKey, parts });
  await expect.poll(() => metric('svc_compatible_decoders')).toBe(1);
  const refused = await post(emulator.apiKey);
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { svc_code: 'too_many_files' } });
  upload.cut();
});

test('a file that waits on the disk for its language counts as one', async () => {
  // An account of its own: a session that comes after 50 ms stays reserved.
  const own = await startEmulatorOn(await createTestDatabase());
  server = await startWithLimits(own, { decoders: 1, sessionWaitMs: 50 });
  url = server.url;
  // A part that is still open: more of the file may follow.
  const head = part('name="file"; filename="a"', MP4_HEAD).subarray(0, -2);
  const upload = beginForm({ key: own.apiKey, parts: [head] });
  await expect.poll(() => metric('svc_compatible_connections')).toBe(1);
  await expect.poll(async () => (await post(own.apiKey)).status).toBe(503);
  upload.cut();
  await own.stop();
});

test('a file of an account without credit is refused before any of it arrives', async () => {
  const poor = await startEmulatorOn(await createTestDatabase(), { creditMs: 0 });
  server = await startWithLimits(poor, {});
  url = server.url;
  const upload = beginForm({ key: poor.apiKey, parts: [MODEL] });
  expect(await upload.answered).toBe(402);
  expect(metric('svc_compatible_decoders')).toBe(0);
  upload.cut();
  await poor.stop();
});

test('files on the disk are limited in all and for each account', async () => {
  await start({ diskBytesPerAccount: 10 });
  const head = part('name="file"; filename="a"', MP4_HEAD);
  const upload = beginForm({ key: emulator.apiKey, parts: [head] });
  expect(await upload.answered).toBe(429);
  upload.cut();
  await server.stop();
  await start({ diskBytes: 10 });
  const second = beginForm({ key: emulator.apiKey, parts: [head] });
  expect(await second.answered).toBe(503);
  second.cut();
  await expect.poll(() => metric('svc_compatible_disk_bytes')).toBe(0);
});

test('a socket whose container must be on the disk is closed at its limit', async () => {
  await start({ liveFileBytes: 100_000 });
  const client = await ListenClient.open(url, {
    key: emulator.apiKey,
    query: 'model=svc-asr-kikuyu-v1',
  });
  client.sendAudio(Buffer.concat([MP4_HEAD, Buffer.alloc(150_000)]));
  expect(await client.closed).toMatchObject({
    code: 1008,
    reason: expect.stringContaining('file_too_large'),
  });
  await expect.poll(() => metric('svc_compatible_disk_bytes')).toBe(0);
});

test('a Realtime connection with a made-up key is told so, and holds nothing', async () => {
  await start({ unprovenPerNetwork: 1 });
  const first = openWithMadeUpKey();
  const second = openWithMadeUpKey();
  const [, refused]: IncomingMessage[] = await once(second, 'unexpected-response');
  expect(refused?.statusCode).toBe(429);
  const [message]: Buffer[] = await once(first, 'message');
  expect(JSON.parse(String(message))).toMatchObject({ error: { code: 'invalid_api_key' } });
  await once(first, 'close');
  await expect.poll(() => metric('svc_compatible_connections')).toBe(0);
});

test.each([3, 20_000])(
  'a live stream whose client hangs up after %d bytes of a file gives its decoder back',
  async (bytes) => {
    await start({ decoders: 1, decodersPerAccount: 1 });
    const file = await encode('wav');
    const client = await ListenClient.open(url, { key: emulator.apiKey, query: QUERY });
    client.sendAudio(file.subarray(0, bytes));
    await expect.poll(() => metric('svc_compatible_decoders')).toBe(1);
    client.drop();
    await expect.poll(() => metric('svc_compatible_decoders')).toBe(0);
    expect((await post(emulator.apiKey)).status).toBe(200);
  },
);

test('a client that hangs up before its stream is ready gives its session back', async () => {
  await start();
  for (let each = 0; each < 3; each += 1) {
    const client = await ListenClient.open(url, { key: emulator.apiKey });
    client.drop();
  }
  await expect.poll(() => metric('svc_compatible_streams')).toBe(0);
  expect((await post(emulator.apiKey)).status).toBe(200);
});

test('a body that arrives byte by byte is refused with 408', async () => {
  await start({ idleMs: 300 });
  const head = part('name="file"; filename="a"', 'RIFF').subarray(0, -2);
  const upload = beginForm({ key: emulator.apiKey, parts: [MODEL, head] });
  const trickle = setInterval(() => upload.write('x'), 50);
  expect(await upload.answered).toBe(408);
  clearInterval(trickle);
  upload.cut();
});

test.each([
  ['from a page', false],
  ['while the program stops', true],
])(
  'a refusal %s does not echo the key that was offered as a subprotocol',
  async (_, isDraining) => {
    await start();
    const holder = isDraining ? await ListenClient.open(url, { key: emulator.apiKey }) : null;
    const drained = isDraining ? server.drain(60_000) : null;
    const client = new WebSocket(
      `${url.replace('http', 'ws')}/v1/realtime`,
      [`openai-insecure-api-key.${emulator.apiKey}`, 'realtime'],
      isDraining ? {} : { origin: 'https://page.example' },
    );
    const [answer]: IncomingMessage[] = await once(client, 'upgrade');
    expect(answer?.headers['sec-websocket-protocol']).toBe('realtime');
    await once(client, 'close');
    holder?.drop();
    await drained;
  },
);

test('a client that pings and does not read is cut off', async () => {
  await start();
  const address = `${url.replace('http', 'ws')}/v1/realtime`;
  const headers = { authorization: `Bearer ${emulator.apiKey}` };
  const client = new WebSocket(address, { headers });
  client.on('error', () => undefined);
  await once(client, 'open');
  client.pause();
  const data = Buffer.alloc(125);
  // Far more than the buffers of both systems hold.
  for (let sent = 0; sent < 400_000 && metric('svc_compatible_connections') > 0;) {
    for (let each = 0; each < 2_000; each += 1, sent += 1) client.ping(data, true, () => undefined);
    await new Promise(setImmediate);
  }
  await expect.poll(() => metric('svc_compatible_connections')).toBe(0);
  client.terminate();
});

test('a Deepgram client that floods with messages is closed with the reason', async () => {
  await start();
  const client = await ListenClient.open(url, { key: emulator.apiKey });
  for (let each = 0; each < 200; each += 1) client.command('Finalize');
  expect(await client.closed).toMatchObject({
    code: 1008,
    reason: expect.stringContaining('too_many_messages'),
  });
});

test('a Realtime client is told once which of its settings have no effect', async () => {
  await start();
  const client = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime?intent=x&version=2`, {
    headers: { authorization: `Bearer ${emulator.apiKey}` },
  });
  const updates: { session: { svc_ignored_parameters?: string[] } }[] = [];
  client.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString());
    if (message.type === 'session.updated') updates.push(message);
  });
  const opened = once(client, 'open');
  const [answer]: IncomingMessage[] = await once(client, 'upgrade');
  expect(answer?.headers['svc-ignored-parameters']).toBe('version');
  const input = {
    noise_reduction: { type: 'near_field' },
    transcription: { model: 'svc-asr-kikuyu-v1', prompt: 'x' },
    turn_detection: null,
  };
  const update = JSON.stringify({
    type: 'session.update',
    session: { type: 'transcription', include: ['x'], audio: { input } },
  });
  await opened;
  client.send(update);
  client.send(update);
  await expect.poll(() => updates.length).toBe(2);
  expect(updates.map(({ session }) => session.svc_ignored_parameters)).toEqual([
    ['include', 'audio.input.noise_reduction', 'audio.input.transcription.prompt'],
    undefined,
  ]);
  client.close();
});
