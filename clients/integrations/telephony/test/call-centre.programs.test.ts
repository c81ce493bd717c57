import { once } from 'node:events';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { SvcClient } from '@svc-asr/sdk';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import {
  startBridge,
  type Bridge,
  type BridgeOptions,
  type CallEvent,
  type Notice,
} from '../src/index.ts';
import { freeSwitchCall, jambonzCall, twilioCall } from './calls.ts';

/** The emulator's first sentence in each language. */
const KIKUYU = 'nĩ wega mũno';
const DHOLUO = 'erokamano ahinya';
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let emulator: Emulator;
let single: Emulator;
let bridge: Bridge;
let events: CallEvent[] = [];
let notices: Notice[] = [];
beforeAll(async () => {
  emulator = await startEmulator({ concurrency: 4, shortestMs: 1_000 });
  single = await startEmulator({ concurrency: 1, shortestMs: 1_000 });
});
afterAll(async () => {
  await emulator.stop();
  await single.stop();
});
afterEach(() => bridge.stop());

async function bridgeWith(
  options: Partial<BridgeOptions> = {},
  { url, apiKey }: { url: string; apiKey: string } = emulator,
): Promise<string> {
  events = [];
  notices = [];
  bridge = await startBridge({
    client: new SvcClient({ baseUrl: url, apiKey, retriesMax: 0 }),
    model: 'svc-asr-kikuyu-v1',
    onEvent: (event) => events.push(event),
    onNotice: (notice) => notices.push(notice),
    ...options,
  });
  return bridge.url;
}

async function summary() {
  await expect.poll(() => events.map(({ type }) => type)).toContain('call_ended');
  const last = events.at(-1);
  if (last?.type !== 'call_ended') throw new Error('call_ended is not the last event.');
  return last;
}

test.each([
  ['luo-KE', DHOLUO],
  ['ki-KE', KIKUYU],
  ['Dholuo', DHOLUO],
])('jambonz: a call in %s is recognised in that language and labelled so', async (name, text) => {
  const url = await bridgeWith();
  const answers = await jambonzCall(`${url}/jambonz`, { language: name });
  expect(answers.at(-1)).toMatchObject({ language: name, alternatives: [{ transcript: text }] });
});

test('jambonz: another language is refused with the languages to use', async () => {
  const url = await bridgeWith();
  const answers = await jambonzCall(`${url}/jambonz`, { language: 'sw-KE' });
  expect(answers).toMatchObject([
    { type: 'error', error: expect.stringMatching(/unsupported_language.*luo-KE/) },
  ]);
  expect(events).toEqual([]);
  expect(notices).toMatchObject([{ code: 'unsupported_language' }]);
});

test.each([
  ['?call=abc-1', {}, /^abc-1$/],
  ['', { call_sid: 'js-7' }, /^js-7$/],
  ['', {}, /^jambonz-[0-9a-f-]{36}$/],
  ['', { callSid: 'line\nbreak' }, /^jambonz-[0-9a-f-]{36}$/],
])('jambonz: a call to /jambonz%s with options %j has a name', async (query, options, name) => {
  const url = await bridgeWith();
  await jambonzCall(`${url}/jambonz${query}`, { options });
  expect((await summary()).call).toMatch(name);
});

test.each([
  [
    '/twilio',
    { event: 'start', start: { mediaFormat: { encoding: 'audio/opus', sampleRate: 48_000 } } },
  ],
  [
    '/twilio',
    { event: 'start', start: { mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 1 } } },
  ],
  ['/jambonz', { type: 'start', encoding: 'OPUS', sampleRateHz: 48_000 }],
  ['/jambonz', { type: 'start', sampleRateHz: 1 }],
  ['/freeswitch?rate=1', { uuid: 'a' }],
  ['/freeswitch?rate=16000&channels=3', { uuid: 'a' }],
  ['/freeswitch', { uuid: 'a', sampleRate: 44_100 }],
])('a call to %s with %j is refused', async (path, message) => {
  const url = await bridgeWith();
  const socket = new WebSocket(
    `${url}${path}`,
    path.includes('free') ? ['audio.drachtio.org'] : [],
  );
  await once(socket, 'open');
  socket.send(JSON.stringify(message));
  const [code, reason] = await once(socket, 'close');
  expect([code, String(reason)]).toEqual([1003, 'unsupported_audio']);
  expect(events).toEqual([]);
  expect(notices).toMatchObject([{ code: 'unsupported_audio' }]);
});

test('events have wall-clock and word times, custom parameters, and the call ends with its transcript', async () => {
  const url = await bridgeWith();
  const began = Date.now();
  const customParameters = { customer: '42', language: 'luo', long: 'x'.repeat(501) };
  await twilioCall(`${url}/twilio`, ['inbound', 'outbound'], { start: { customParameters } });
  const call = await summary();
  const parameters = { customer: '42', language: 'luo' };
  expect(events[0]).toMatchObject({ type: 'started', language: 'luo', parameters });
  const final = events.find((event) => event.type === 'final');
  if (final?.type !== 'final') throw new Error('There is no final.');
  expect(final.start_time).toMatch(ISO);
  expect(Date.parse(final.end_time) - Date.parse(final.start_time)).toBe(
    final.end_ms - final.start_ms,
  );
  expect(Date.parse(final.start_time)).toBeGreaterThanOrEqual(began);
  expect(final.words.map(({ text }) => text).join(' ')).toBe(DHOLUO);
  for (const word of final.words) expect(word.end_ms).toBeGreaterThan(word.start_ms);
  expect(call).toMatchObject({ protocol: 'twilio', language: 'luo', parameters, truncated: false });
  expect(call.legs).toHaveLength(2);
  expect(call.turns.map(({ leg, text }) => `${leg} ${text}`)).toEqual(
    expect.arrayContaining([`inbound ${DHOLUO}`, `outbound ${DHOLUO}`]),
  );
  expect(call.turns).toHaveLength(2);
});

test('FreeSWITCH: metadata becomes parameters', async () => {
  const url = await bridgeWith();
  await freeSwitchCall(`${url}/freeswitch?rate=16000&queue=sales`, 1);
  const { call, parameters } = await summary();
  expect(call).toBe('a1b2c3');
  expect(parameters).toMatchObject({ from: '+254700000001', queue: 'sales' });
});

test('with a limit of one session the second leg waits, and the operator is told what to do', async () => {
  const url = await bridgeWith({}, single);
  await twilioCall(`${url}/twilio`, ['inbound', 'outbound']);
  const call = await summary();
  const warning = {
    level: 'warning',
    code: 'concurrency_limit_exceeded',
    message: expect.stringContaining('higher limit'),
    call: call.call,
    leg: expect.stringMatching(/bound$/),
  };
  expect(notices).toContainEqual(warning);
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'warning', code: 'concurrency_limit_exceeded' }),
  );
  // The second leg got its session after the first ended, and lost nothing.
  expect(call.legs.map(({ reason }) => reason)).toEqual(['completed', 'completed']);
  expect(call.turns).toHaveLength(2);
});

test('a wrong key is reported for each call', async () => {
  const apiKey = emulator.apiKey.replace(/.{8}$/, 'AAAAAAAA');
  const url = await bridgeWith({}, { url: emulator.url, apiKey });
  await twilioCall(`${url}/twilio`, ['inbound']);
  await summary();
  expect(notices).toMatchObject([
    { level: 'error', code: 'invalid_api_key', message: expect.stringContaining('SVC_API_KEY') },
  ]);
});

test('a drain refuses new calls, lets the current one finish and then stops', async () => {
  const url = await bridgeWith({ metricsToken: 'metrics-token' });
  const pages = url.replace('ws:', 'http:');
  const status = async (path: string) => (await fetch(`${pages}${path}`)).status;
  expect(await status('/healthz')).toBe(200);
  expect(await status('/readyz')).toBe(200);
  expect(await status('/metrics')).toBe(401);
  expect(await status('/elsewhere')).toBe(404);
  const socket = new WebSocket(`${url}/jambonz`);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'start', sampleRateHz: 8000 }));
  await expect.poll(() => events.length).toBe(1);
  const drained = bridge.drain(60_000);
  expect(await status('/readyz')).toBe(503);
  expect(await status('/healthz')).toBe(200);
  const late = new WebSocket(`${url}/jambonz`);
  late.on('error', () => undefined);
  const [, response] = await once(late, 'unexpected-response');
  expect(response.statusCode).toBe(503);
  const headers = { authorization: 'Bearer metrics-token' };
  const metrics = await (await fetch(`${pages}/metrics`, { headers })).text();
  expect(metrics).toContain('svc_telephony_calls 1\n');
  expect(metrics).toContain('svc_telephony_draining 1\n');
  expect(metrics).toContain('svc_telephony_calls_total{protocol="jambonz"} 1\n');
  expect(metrics).toContain('svc_telephony_refusals_total{reason="draining"} 1\n');
  socket.send(JSON.stringify({ type: 'stop' }));
  await drained;
  expect(events.map(({ type }) => type)).toEqual(['started', 'ended', 'call_ended']);
  await expect(fetch(`${pages}/healthz`)).rejects.toThrow('fetch failed');
});
