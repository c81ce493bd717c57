import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { SvcClient } from '@svc-asr/sdk';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { AllowList } from '../src/access.ts';
import { startBridge, type Bridge, type BridgeOptions } from '../src/index.ts';

const TOKEN = '0123456789abcdef';
const AUTH_TOKEN = 'twilio-auth-token';

let bridge: Bridge | null = null;
afterEach(async () => {
  await bridge?.stop();
  bridge = null;
});

/** No call of these tests starts, so there is no service. */
async function start(options: Partial<BridgeOptions> = {}): Promise<Bridge> {
  const apiKey = `svc_live_v1_${'A'.repeat(50)}`;
  bridge = await startBridge({
    client: new SvcClient({ baseUrl: 'http://127.0.0.1:9', apiKey }),
    model: 'svc-asr-kikuyu-v1',
    onEvent: () => undefined,
    ...options,
  });
  return bridge;
}

test.each([null, '', 'short'])(
  'does not start on a public address with the token %j',
  async (token) => {
    await expect(start({ host: '0.0.0.0', token })).rejects.toThrow('SVC_TELEPHONY_TOKEN');
    await expect(start({ host: '::', token })).rejects.toThrow('SVC_TELEPHONY_TOKEN');
  },
);

test('AudioSocket is off unless asked for, and needs an allow list on a public address', async () => {
  expect((await start({ host: '0.0.0.0', token: TOKEN })).audioSocketPort).toBeNull();
  const audioSocket = { port: 0, host: '0.0.0.0' };
  await expect(start({ audioSocket })).rejects.toThrow('--audiosocket-allow');
  await expect(start({ audioSocket: { ...audioSocket, allow: ['all'] } })).rejects.toThrow(
    'Invalid',
  );
});

test.each([
  [['10.0.0.5'], true],
  [['10.0.0.5', '127.0.0.0/8'], false],
])(
  'AudioSocket with the allow list %j: a local connection is refused: %j',
  async (allow, isRefused) => {
    const audioSocket = { port: 0, host: '0.0.0.0', allow };
    const { audioSocketPort, metrics } = await start({ audioSocket });
    const socket = connect(audioSocketPort ?? 0, '127.0.0.1');
    // The bridge answers a hang-up by closing, and closes a refused connection at once.
    socket.write(Buffer.from([0, 0, 0]));
    socket.on('error', () => undefined).resume();
    await once(socket, 'close');
    const refused = 'svc_telephony_refusals_total{reason="not_allowed"} 1';
    expect(metrics.text().includes(refused)).toBe(isRefused);
  },
);

test('connections that start no call are closed after 10 s', async () => {
  const { url, audioSocketPort, metrics } = await start({ audioSocket: { port: 0 } });
  const websocket = new WebSocket(`${url}/jambonz`);
  const socket = connect(audioSocketPort ?? 0, '127.0.0.1').resume();
  const [[code]] = await Promise.all([once(websocket, 'close'), once(socket, 'close')]);
  expect(code).toBe(1008);
  expect(metrics.text()).toContain('svc_telephony_refusals_total{reason="no_start"} 2');
});

test('an allow list holds addresses and networks of both families', () => {
  const list = new AllowList(['10.0.0.5', '192.168.0.0/16', 'fd00::/8']);
  for (const address of ['10.0.0.5', '::ffff:10.0.0.5', '192.168.9.9', 'fd00::1']) {
    expect(list.has(address)).toBe(true);
  }
  for (const address of ['10.0.0.6', '::1', '', 'x', '127.0.0.1']) {
    expect(list.has(address)).toBe(false);
  }
  for (const entry of ['', '10.0.0.5/33', '10.0.0.0/x', 'fd00::/129', '10.0.0.5/']) {
    expect(() => new AllowList([entry])).toThrow('Invalid address');
  }
});

function sign(url: string, secret = AUTH_TOKEN): string {
  return createHmac('sha1', secret).update(url).digest('base64');
}

/** The status of an upgrade: 101 if it is accepted. */
async function statusOf(path: string, signature: string | null): Promise<number> {
  const headers = signature === null ? {} : { 'x-twilio-signature': signature };
  const socket = new WebSocket(`${bridge?.url}${path}`, { headers });
  socket.on('error', () => undefined);
  const status = await new Promise<number>((resolve) => {
    socket.once('open', () => resolve(101));
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
  });
  socket.terminate();
  return status;
}

test("Twilio's calls need its signature of the address in the TwiML", async () => {
  const publicUrl = 'wss://calls.example.org';
  await start({ token: TOKEN, twilioAuthToken: AUTH_TOKEN, publicUrl });
  const path = `/twilio/${TOKEN}`;
  for (const url of [path, `${path}/`, `:443${path}`]) {
    expect(await statusOf(path, sign(publicUrl + url))).toBe(101);
  }
  expect(await statusOf(path, null)).toBe(403);
  expect(await statusOf(path, sign(publicUrl + path, 'another'))).toBe(403);
  expect(await statusOf(path, sign(`wss://elsewhere.example${path}`))).toBe(403);
  expect(await statusOf('/twilio/wrong', sign(`${publicUrl}/twilio/wrong`))).toBe(404);
  // Other systems don't sign.
  expect(await statusOf(`/jambonz/${TOKEN}`, null)).toBe(101);
});

test('without --public-url the signature is compared with the Host of the request', async () => {
  const { url } = await start({ twilioAuthToken: AUTH_TOKEN });
  const { host } = new URL(url);
  expect(await statusOf('/twilio', sign(`wss://${host}/twilio`))).toBe(101);
  expect(await statusOf('/twilio', sign('wss://elsewhere.example/twilio'))).toBe(403);
});
