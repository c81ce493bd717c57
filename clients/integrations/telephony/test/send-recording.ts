import { once } from 'node:events';
import { connect } from 'node:net';
import { SvcClient } from '@svc-asr/sdk';
import { WebSocket } from 'ws';
import { startBridge } from '../src/index.ts';
import { twilioCall } from './calls.ts';

const FRAME_BYTES = 640;
/** AudioSocket: the UUID, signed linear audio at 16 kHz, the end of the call. */
const KIND = { uuid: 0x01, audio16k: 0x12, hangUp: 0x00 } as const;

/**
 * Sends a 16 kHz recording as a call through the bridge, and returns when the call has ended. Twilio gets it as mu-law
 * at 8 kHz, the others as it is.
 */
export async function sendThroughBridge(
  system: 'freeswitch' | 'audiosocket' | 'twilio',
  samples: Int16Array,
  options: { baseUrl: string; apiKey: string; silenceMs: number },
): Promise<void> {
  const { baseUrl, apiKey, silenceMs } = options;
  const pcm = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  let end: (() => void) | undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const bridge = await startBridge({
    client: new SvcClient({ baseUrl, apiKey }),
    model: 'svc-asr-kikuyu-v1',
    audioSocket: { port: 0 },
    silenceMs,
    onEvent: ({ type }) => {
      if (type === 'ended') end?.();
    },
  });
  try {
    const { url, audioSocketPort } = bridge;
    if (system === 'twilio') await twilioCall(`${url}/twilio`, ['inbound'], { pcm: samples });
    else if (system === 'audiosocket') await callFromAsterisk(audioSocketPort ?? 0, pcm);
    else await callFromFreeSwitch(`${url}/freeswitch?rate=16000`, pcm);
    await ended;
  } finally {
    await bridge.stop();
  }
}

async function callFromFreeSwitch(url: string, pcm: Buffer): Promise<void> {
  const socket = new WebSocket(url, ['audio.drachtio.org']);
  await once(socket, 'open');
  socket.send(JSON.stringify({ uuid: 'a1b2c3' }));
  for (const frame of framesOf(pcm)) socket.send(frame);
  socket.close();
}

async function callFromAsterisk(port: number, pcm: Buffer): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(message(KIND.uuid, Buffer.alloc(16, 7)));
  for (const frame of framesOf(pcm)) socket.write(message(KIND.audio16k, frame));
  socket.end(message(KIND.hangUp, Buffer.alloc(0)));
}

function message(kind: number, payload: Buffer): Buffer {
  const header = Buffer.from([kind, payload.byteLength >> 8, payload.byteLength & 0xff]);
  return Buffer.concat([header, payload]);
}

function framesOf(pcm: Buffer): Buffer[] {
  const count = Math.ceil(pcm.byteLength / FRAME_BYTES);
  return Array.from({ length: count }, (_, at) =>
    pcm.subarray(at * FRAME_BYTES, (at + 1) * FRAME_BYTES),
  );
}
