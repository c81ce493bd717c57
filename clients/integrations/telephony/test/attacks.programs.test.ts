import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { SvcClient } from '@svc-asr/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startBridge, type Bridge, type CallEvent } from '../src/index.ts';
import { twilioCall } from './calls.ts';

/** Strangers' requests. The bridge runs in this process, so an uncaught error fails the run. */

const TOKEN = 'secret-token';
const UPGRADE =
  'Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

let emulator: Emulator;
let bridge: Bridge;
const events: CallEvent[] = [];
beforeAll(async () => {
  emulator = await startEmulator({ texts: ['nĩ wega'] });
  bridge = await startBridge({
    client: new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey }),
    model: 'svc-asr-kikuyu-v1',
    token: TOKEN,
    onEvent: (event) => events.push(event),
  });
});
afterAll(async () => {
  await bridge.stop();
  await emulator.stop();
});

async function open(port = Number(new URL(bridge.url).port)): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** The events of a call from beginning to end. */
async function eventsOfCall(): Promise<CallEvent[]> {
  events.length = 0;
  await twilioCall(`${bridge.url}/twilio/${TOKEN}`, ['inbound']);
  await expect.poll(() => events.map(({ type }) => type)).toContain('ended');
  return events;
}

test('a refused caller that neither reads nor closes is cut off', async () => {
  const port = Number(new URL(bridge.url).port);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  socket.write(`GET /twilio/wrong HTTP/1.1\r\n${UPGRADE}`);
  await once(socket, 'data');
  // A socket with unread bytes doesn't see the end of its peer.
  const isCut = (): boolean => {
    socket.write('still here');
    return socket.destroyed;
  };
  await expect.poll(isCut).toBe(true);
});

test.each(['//', '///', '//[', 'http://[', '*', '/%', '/twilio/%'])(
  'an upgrade to %s is answered with 404',
  async (target) => {
    const socket = await open();
    socket.write(`GET ${target} HTTP/1.1\r\n${UPGRADE}`);
    const [answer] = await once(socket.setEncoding('utf8'), 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 404 /);
    socket.destroy();
  },
);

test('resets after a wrong token, at any moment, leave the bridge serving', async () => {
  const request = `GET /twilio/wrong HTTP/1.1\r\n${UPGRADE}`;
  for (let end = 1; end <= request.length; end += 1) {
    const socket = await open();
    await new Promise((resolve) => socket.write(request.slice(0, end), resolve));
    socket.resetAndDestroy();
  }
  const final = expect.objectContaining({ type: 'final', text: 'nĩ wega' });
  expect(await eventsOfCall()).toContainEqual(final);
});

test.each([0, -1, 1, 7_999, 383_999, 1e308, 0.5])(
  'jambonz: a sample rate of %s is refused at once',
  async (sampleRateHz) => {
    const socket = new WebSocket(`${bridge.url}/jambonz/${TOKEN}`);
    const answers: unknown[] = [];
    socket.on('message', (data: Buffer) => answers.push(JSON.parse(data.toString('utf8'))));
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'start', language: 'ki-KE', sampleRateHz }));
    const [code] = await once(socket, 'close');
    expect(code).toBe(1003);
    expect(answers).toMatchObject([{ type: 'error' }]);
  },
);

test('only digits of a telephone become dtmf events', async () => {
  events.length = 0;
  const socket = new WebSocket(`${bridge.url}/twilio/${TOKEN}`);
  await once(socket, 'open');
  socket.send(JSON.stringify({ event: 'start', start: { callSid: 'CA1' } }));
  for (const digit of ['<b>', '1'.repeat(33), '', '\n', '5#']) {
    socket.send(JSON.stringify({ event: 'dtmf', dtmf: { digit } }));
  }
  socket.send(JSON.stringify({ event: 'stop' }));
  await expect.poll(() => events.map(({ type }) => type)).toContain('call_ended');
  const digits = events.flatMap((event) => (event.type === 'dtmf' ? [event.digit] : []));
  expect(digits).toEqual(['5#']);
  socket.close();
});

test('a telephone system that pings and does not read is cut off', async () => {
  const client = new WebSocket(`${bridge.url.replace('http', 'ws')}/jambonz/${TOKEN}`);
  client.on('error', () => undefined);
  await once(client, 'open');
  const closed = once(client, 'close');
  const data = Buffer.alloc(125);
  // Far more than the buffers of both systems hold.
  client.pause();
  for (let sent = 0; sent < 400_000 && client.bufferedAmount < 8 * 1024 * 1024;) {
    for (let each = 0; each < 2_000; each += 1, sent += 1) client.ping(data, true, () => undefined);
    await new Promise(setImmediate);
  }
  client.resume();
  const [code] = await closed;
  // Without a close frame. A silent caller that reads is refused with one.
  expect(code).toBe(1006);
});
