import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { join } from 'node:path';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { listen } from '@svc-asr/runtime/listen.ts';
import { SvcClient } from '@svc-asr/sdk';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  startBridge,
  type Bridge,
  type CallEvent,
  type Notice,
  type RecordingOptions,
} from '../src/index.ts';
import { isAllowedUrl } from '../src/recordings/fetch-recording.ts';
import { RECORDING_LIMITS } from '../src/recordings/recordings.ts';

const TEXT = 'ũhoro waku';
const TOKEN = 'secret-token';
const FIXTURE = join(import.meta.dirname, '../../../../core/models/fixtures/kikuyu-1.wav');
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let emulator: Emulator;
let bridge: Bridge;
let recordings: Server;
let host: string;
let ca: Buffer;
let wav: Buffer;
let answer: Answer;
const asked: string[] = [];
let events: CallEvent[] = [];
let notices: Notice[] = [];

beforeAll(async () => {
  emulator = await startEmulator({ texts: [TEXT], concurrency: 4 });
  const { cert, keyFile } = await makeCertificate();
  [ca, wav] = [cert, await readFile(FIXTURE)];
  recordings = createServer({ cert, key: await readFile(keyFile) }, (request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  host = `localhost:${await listen(recordings)}`;
});
afterEach(() => bridge.stop());
afterAll(async () => {
  recordings.close();
  recordings.closeAllConnections();
  await emulator.stop();
});

async function bridgeWith(
  options: Partial<RecordingOptions> | null = {},
  {
    from = emulator,
    onEvent = (event) => events.push(event),
  }: { from?: Emulator; onEvent?: (event: CallEvent) => unknown } = {},
): Promise<void> {
  [events, notices] = [[], []];
  asked.length = 0;
  answer = (_request, response) => void response.end(wav);
  bridge = await startBridge({
    client: new SvcClient({ baseUrl: from.url, apiKey: from.apiKey }),
    model: 'svc-asr-kikuyu-v1',
    token: TOKEN,
    metricsToken: TOKEN,
    recordings: options === null ? null : { from: [], fromPrivate: [host], ca, ...options },
    onEvent,
    onNotice: (notice) => notices.push(notice),
  });
}

async function post(
  form: Record<string, string>,
  path = `/recordings/${TOKEN}?language=luo`,
): Promise<{ status: number; text: string }> {
  const url = new URL(path, bridge.url.replace('ws:', 'http:'));
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, text: await response.text() };
}

/** As Africa's Talking posts it. */
function callback(path = '/r.wav'): Record<string, string> {
  return {
    isActive: '0',
    sessionId: 'ATVId_1',
    callerNumber: '+254711000001',
    recordingUrl: `https://${host}${path}`,
    durationInSeconds: '3',
  };
}

async function onlyEvent(): Promise<CallEvent | undefined> {
  await expect.poll(() => events.length).toBe(1);
  return events[0];
}

test("a callback of Africa's Talking becomes one event with the transcript", async () => {
  await bridgeWith();
  expect(await post(callback())).toEqual({
    status: 200,
    text: '<?xml version="1.0" encoding="UTF-8"?><Response/>\n',
  });
  expect(await onlyEvent()).toMatchObject({
    type: 'recording',
    call: 'ATVId_1',
    language: 'luo',
    reason: 'completed',
    parameters: { callerNumber: '+254711000001', durationInSeconds: '3' },
    audio_ms: 2_941,
    turns: [{ text: TEXT, words: [{ text: 'ũhoro' }, { text: 'waku' }] }],
    truncated: false,
  });
  expect(JSON.stringify(events)).not.toContain(host);
  const metrics = await fetch(`${bridge.url.replace('ws:', 'http:')}/metrics`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(await metrics.text()).toContain('svc_telephony_recordings_total{outcome="completed"} 1\n');
});

test('a callback without a recording is answered and does nothing', async () => {
  await bridgeWith();
  expect((await post({ ...callback(), recordingUrl: '' })).status).toBe(200);
  expect((await post({ isActive: '1', sessionId: 'ATVId_2' })).status).toBe(200);
  expect((await post({ address: 'https://x.example' })).status).toBe(400);
  expect((await post({ url: 'nonsense' })).status).toBe(400);
  expect([asked, events]).toEqual([[], []]);
});

test('is off without hosts, and needs the token', async () => {
  await bridgeWith(null);
  expect((await post(callback())).status).toBe(404);
  await bridge.stop();
  await bridgeWith();
  expect((await post(callback(), '/recordings')).status).toBe(404);
  expect(asked).toEqual([]);
});

test.each([
  ['another host', { recordingUrl: 'https://evil.example/r.wav' }],
  ['http', { recordingUrl: 'http://localhost/r.wav' }],
  ['a file', { recordingUrl: 'file:///etc/passwd' }],
])('refuses %s', async (_, change) => {
  await bridgeWith();
  expect((await post({ ...callback(), ...change })).status).toBe(403);
  expect(notices).toMatchObject([{ code: 'host_not_allowed' }]);
  expect(asked).toEqual([]);
});

test('refuses a language that it does not know', async () => {
  await bridgeWith();
  const path = `/recordings/${TOKEN}?language=sw`;
  expect((await post(callback(), path)).status).toBe(400);
  expect(asked).toEqual([]);
});

test('does not connect to a private address unless the host is named as private', async () => {
  await bridgeWith({ from: [host], fromPrivate: [] });
  expect((await post(callback())).status).toBe(200);
  expect(await onlyEvent()).toMatchObject({ reason: 'private_address', turns: [] });
  expect(asked).toEqual([]);
});

const FAILURES: readonly (readonly [string, Answer, string])[] = [
  ['404', (_, response) => void response.writeHead(404).end(), 'fetch_failed'],
  [
    'a redirect to another host',
    (_, response) => void response.writeHead(302, { location: 'https://127.0.0.1/x' }).end(),
    'redirect_refused',
  ],
  [
    'a redirect to http',
    (_, response) => void response.writeHead(302, { location: `http://${host}/x` }).end(),
    'host_not_allowed',
  ],
  [
    'endless redirects',
    (_, response) => void response.writeHead(302, { location: '/again' }).end(),
    'redirect_refused',
  ],
  [
    'a length above the limit',
    (_, response) => void response.writeHead(200, { 'content-length': 100_000_001 }).write('RIFF'),
    'recording_too_large',
  ],
  ['a playlist', (_, response) => void response.end('#EXTM3U\n'), 'unsupported_audio_format'],
  ['a broken file', (_, response) => void response.end('ID3broken'), 'unreadable_audio'],
];
test.each(FAILURES)('%s ends as an event with the reason', async (_, given, reason) => {
  await bridgeWith();
  answer = given;
  await post(callback());
  expect(await onlyEvent()).toMatchObject({ reason, audio_ms: 0, turns: [] });
  expect(notices).toMatchObject([{ level: 'error', code: reason, call: 'ATVId_1' }]);
  expect(asked.length).toBeLessThanOrEqual(4);
});

test('without ffmpeg it says so at the start, in its readiness and in the event', async () => {
  await bridgeWith({ ffmpeg: '/no/ffmpeg' });
  expect(notices).toMatchObject([{ level: 'warning', code: 'ffmpeg_missing' }]);
  const ready = await fetch(new URL('/readyz', bridge.url.replace('ws:', 'http:')));
  expect([ready.status, await ready.text()]).toEqual([
    200,
    expect.stringContaining('ffmpeg cannot be started'),
  ]);
  await post(callback());
  expect(await onlyEvent()).toMatchObject({ reason: 'ffmpeg_missing', turns: [] });
});

test('a recording that ends early says how much of it was sent', async () => {
  const poor = await startEmulator({ texts: [TEXT], creditMs: 1_000 });
  try {
    await bridgeWith({}, { from: poor });
    await post(callback());
    const event = await onlyEvent();
    expect(event).toMatchObject({ reason: 'insufficient_credits' });
    expect(event?.type === 'recording' ? event.audio_ms : 0).toBeGreaterThanOrEqual(1_000);
  } finally {
    await poor.stop();
  }
});

test('a host may be named with the port of https, and nothing else is a host', async () => {
  const url = new URL('https://voice.example.com/r.wav');
  expect(isAllowedUrl(url, { from: ['Voice.example.com:443'], fromPrivate: [] })).toBe(true);
  expect(isAllowedUrl(url, { from: ['voice.example.com:8443'], fromPrivate: [] })).toBe(false);
  for (const name of [
    'https://voice.example.com',
    'voice.example.com/r',
    'me@voice.example.com',
    '',
  ]) {
    await expect(bridgeWith({ from: [name] })).rejects.toThrow('is not a host of recordings');
  }
});

test('an event that the application fails to take is reported, and the bridge goes on', async () => {
  const failing = [
    () => {
      throw new Error('no disk');
    },
    () => Promise.reject(new Error('no disk')),
  ];
  for (const onEvent of failing) {
    await bridgeWith({}, { onEvent });
    await post(callback());
    await expect.poll(() => notices).toMatchObject([{ code: 'event_lost', call: 'ATVId_1' }]);
    await bridge.stop();
  }
});

test('follows a redirect on the same host', async () => {
  await bridgeWith();
  answer = ({ url }, response) =>
    void (url === '/r.wav'
      ? response.writeHead(302, { location: '/file' }).end()
      : response.end(wav));
  await post(callback());
  expect(await onlyEvent()).toMatchObject({ reason: 'completed' });
  expect(asked).toEqual(['/r.wav', '/file']);
});

test('transcribes four recordings at once; the same one only once, and above 200 waiting 503', async () => {
  await bridgeWith();
  answer = () => undefined;
  const { atOnce, waiting } = RECORDING_LIMITS;
  for (let at = 0; at < atOnce + waiting; at += 1) {
    expect((await post(callback(`/${at}.wav`))).status).toBe(200);
  }
  expect((await post(callback('/0.wav'))).status).toBe(200);
  expect((await post(callback('/other.wav'))).status).toBe(503);
  await expect.poll(() => asked.length).toBe(atOnce);
  await bridge.stop();
  expect(events).toHaveLength(atOnce + waiting);
  expect(new Set(events.map((event) => event.type === 'recording' && event.reason))).toEqual(
    new Set(['stopped']),
  );
});

test('a recording that takes too long to fetch ends with timeout', async () => {
  await bridgeWith({ fetchMs: 100 });
  answer = () => undefined;
  await post(callback());
  expect(await onlyEvent()).toMatchObject({ reason: 'timeout' });
});

test('a drain finishes the recordings that were taken', async () => {
  await bridgeWith();
  const held: ServerResponse[] = [];
  answer = (_, response) => void held.push(response);
  await post(callback());
  await expect.poll(() => asked.length).toBe(1);
  const drained = bridge.drain(60_000);
  expect((await post(callback('/late.wav'))).status).toBe(503);
  held[0]?.end(wav);
  await drained;
  expect(events).toMatchObject([{ reason: 'completed', turns: [{ text: TEXT }] }]);
});
