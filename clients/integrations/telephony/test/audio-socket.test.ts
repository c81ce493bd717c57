import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { SvcClient } from '@svc-asr/sdk';
import { afterEach, expect, test, vi } from 'vitest';
import { startBridge, type Bridge } from '../src/index.ts';

const UUID_FRAME = Buffer.from([0x01, 0, 16, ...Array<number>(16).fill(7)]);
const HANG_UP_FRAME = Buffer.from([0, 0, 0]);

let bridge: Bridge;
afterEach(async () => {
  vi.useRealTimers();
  await bridge.stop();
});

/** These calls send no audio, so they need no service. */
async function silentCall(): Promise<Socket> {
  const apiKey = `svc_live_v1_${'A'.repeat(50)}`;
  bridge = await startBridge({
    client: new SvcClient({ baseUrl: 'http://127.0.0.1:9', apiKey }),
    model: 'svc-asr-kikuyu-v1',
    audioSocket: { port: 0 },
    onEvent: () => undefined,
  });
  const socket = connect(bridge.audioSocketPort ?? 0, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(UUID_FRAME);
  return socket;
}

test('a call on hold gets a frame of silence each second, so that Asterisk does not hang up', async () => {
  const socket = await silentCall();
  const frame = Buffer.concat([Buffer.from([0x10, 320 >> 8, 320 & 0xff]), Buffer.alloc(320)]);
  for (let second = 0; second < 2; second += 1) {
    const [data] = await once(socket, 'data');
    expect(data).toEqual(frame);
  }
  socket.write(HANG_UP_FRAME);
  await once(socket, 'close');
});

test('a call that sends nothing for 5 minutes is closed, although the bridge sends silence', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const socket = await silentCall();
  socket.resume();
  await vi.waitFor(() => expect(bridge.metrics.text()).toContain('svc_telephony_calls 1'));
  const closed = once(socket, 'close');
  vi.advanceTimersByTime(300_000);
  await closed;
});
