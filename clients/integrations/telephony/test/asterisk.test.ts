import { once } from 'node:events';
import { connect } from 'node:net';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { SvcClient } from '@svc-asr/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startBridge, type Bridge, type CallEvent } from '../src/index.ts';
import { sentence } from './calls.ts';

/** What Asterisk 22.10 sends, as plain text and as JSON (`f(json)`). */
const FIELDS = { channel: 'WebSocket/svc_asr/0x7f', channel_id: '1795052737.9', format: 'slin16' };
const PLAIN = `MEDIA_START ${Object.entries(FIELDS)
  .map((pair) => pair.join(':'))
  .join(' ')} ptime:20`;
const JSON_TEXT = JSON.stringify({ event: 'MEDIA_START', ...FIELDS, ptime: 20 });
const UUID = '3f1c9a5e-6b0d-4a55-9d8e-2f4b7c1a9e01';

let emulator: Emulator;
let bridge: Bridge;
let events: CallEvent[] = [];
let sentBack = 0;
beforeAll(async () => {
  emulator = await startEmulator({ texts: ['ũhoro'], concurrency: 2, shortestMs: 1_000 });
});
afterAll(() => emulator.stop());
beforeEach(async () => {
  events = [];
  bridge = await startBridge({
    client: new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey }),
    model: 'svc-asr-kikuyu-v1',
    audioSocket: { port: 0 },
    onEvent: (event) => events.push(event),
  });
});
afterEach(() => bridge.stop());

function types(): string[] {
  return events.map((event) => ('leg' in event ? `${event.type} ${event.leg}` : event.type));
}

async function openLeg(query: string, start: string): Promise<WebSocket> {
  const socket = new WebSocket(`${bridge.url}/asterisk?${query}`, ['media']);
  await once(socket, 'open');
  expect(socket.protocol).toBe('media');
  socket.on('message', () => (sentBack += 1));
  socket.send(start);
  const speech = sentence();
  socket.send(Buffer.from(speech.buffer, speech.byteOffset, speech.byteLength));
  return socket;
}

test('the WebSockets of a call are its legs, with a language each, and nothing is sent back', async () => {
  const caller = await openLeg('call=c-1&leg=caller&language=ki&customer=42', PLAIN);
  caller.send('DTMF_END digit:7 channel_id:1795052737.9');
  const callee = await openLeg('call=c-1&leg=callee&language=luo', JSON_TEXT);
  callee.send('{"event":"DTMF_END","digit":"8"}');
  await expect.poll(types).toContain('dtmf callee');
  callee.close();
  await expect.poll(types).toContain('ended callee');
  expect(types()).not.toContain('call_ended');
  caller.close();
  await expect.poll(types).toContain('call_ended');
  expect(sentBack).toBe(0);
  const summary = events.at(-1);
  expect(summary).toMatchObject({ call: 'c-1', protocol: 'asterisk', language: 'ki' });
  expect(summary).toMatchObject({ parameters: { customer: '42' }, turns: [{}, {}] });
  const started = events.filter((event) => event.type === 'started');
  expect(started).toMatchObject([
    { leg: 'caller', language: 'ki' },
    { leg: 'callee', language: 'luo' },
  ]);
  const digits = events.filter((event) => event.type === 'dtmf');
  expect(digits).toMatchObject([
    { leg: 'caller', digit: '7' },
    { leg: 'callee', digit: '8' },
  ]);
});

test.each([
  ['call=c-2&language=en', PLAIN, 'unsupported_language'],
  ['call=c-3', PLAIN.replace('slin16', 'opus'), 'unsupported_audio'],
])('%s, %s: the WebSocket is closed with %s', async (query, start, reason) => {
  const socket = new WebSocket(`${bridge.url}/asterisk?${query}`);
  await once(socket, 'open');
  socket.send(start);
  const [code, closedBecause] = await once(socket, 'close');
  expect([code, String(closedBecause)]).toEqual([1003, reason]);
  expect(events).toEqual([]);
});

async function announce(form: Record<string, string>): Promise<number> {
  const url = `${bridge.url.replace('ws:', 'http:')}/audiosocket`;
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  await response.body?.cancel();
  return response.status;
}

test('an announced AudioSocket has its call, leg, language and parameters', async () => {
  const form = { uuid: UUID, call: 'c-4', leg: 'callee', language: 'luo', queue: 'sales' };
  expect(await announce(form)).toBe(204);
  const socket = connect(bridge.audioSocketPort ?? 0, '127.0.0.1');
  await once(socket, 'connect');
  const uuid = Buffer.from(UUID.replaceAll('-', ''), 'hex');
  socket.write(Buffer.concat([Buffer.from([0x01, 0, 16]), uuid]));
  socket.write(Buffer.concat([Buffer.from([0x10, 320 >> 8, 320 & 0xff]), Buffer.alloc(320)]));
  await expect.poll(types).toContain('started callee');
  const [started] = events;
  expect(started).toMatchObject({ call: 'c-4', language: 'luo', protocol: 'audiosocket' });
  expect(started).toMatchObject({ parameters: { queue: 'sales' } });
  socket.destroy();
  await expect.poll(types).toContain('call_ended');
});

test.each([[{ uuid: 'seven' }], [{ uuid: UUID, language: 'en' }]])(
  'refuses the announcement %j',
  async (form) => {
    expect(await announce(form)).toBe(400);
  },
);
