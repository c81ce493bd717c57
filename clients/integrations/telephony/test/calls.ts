import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { wavToPcm16k } from '@svc-asr/sdk/audio';
import { WebSocket } from 'ws';

/** Calls as each telephone system sends them. The speech is a recorded sentence of core/models/fixtures. */

export const SPEECH = join(import.meta.dirname, '../../../../core/models/fixtures/kikuyu-1.wav');
const FRAME_MS = 20;

/** 16 kHz samples, or the sentence and a second of silence, as ffmpeg encodes them for the telephone. */
function encoded(codec: 'pcm_mulaw' | 'pcm_s16le', rate: number, pcm?: Int16Array): Buffer[] {
  const format = codec === 'pcm_mulaw' ? 'mulaw' : 's16le';
  const source =
    pcm === undefined
      ? ['-i', SPEECH, '-af', 'apad=pad_dur=1']
      : ['-f', 's16le', '-ar', '16000', '-ac', '1', '-i', 'pipe:0'];
  const target = ['-ar', String(rate), '-ac', '1', '-c:a', codec, '-f', format, '-'];
  const bytes = execFileSync('ffmpeg', ['-v', 'error', ...source, ...target], {
    input: pcm === undefined ? '' : Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength),
  });
  const size = ((rate * FRAME_MS) / 1000) * (codec === 'pcm_mulaw' ? 1 : 2);
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.byteLength; at += size) frames.push(bytes.subarray(at, at + size));
  return frames;
}

/** Sends the messages in order, then waits until the other side has closed or `until` happened. */
async function call(
  url: string,
  messages: readonly (string | Buffer)[],
  protocols: string[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<{ socket: WebSocket; answers: unknown[] }> {
  const socket = new WebSocket(url, protocols, { headers });
  const answers: unknown[] = [];
  socket.on('message', (data: Buffer) => answers.push(JSON.parse(data.toString('utf8'))));
  await once(socket, 'open');
  for (const message of messages) socket.send(message);
  return { socket, answers };
}

/** The message sequence of Twilio's documentation: connected, start, media, dtmf, stop. */
export async function twilioCall(
  url: string,
  tracks: readonly string[],
  options: {
    readonly pcm?: Int16Array;
    /** No packets come for `ms` after the first `afterMs` of audio. */
    readonly gap?: { readonly afterMs: number; readonly ms: number };
    readonly start?: Readonly<Record<string, unknown>>;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<void> {
  const streamSid = 'MZ0123456789abcdef0123456789abcdef';
  const callSid = 'CA0123456789abcdef0123456789abcdef';
  const start = {
    accountSid: 'AC0123456789abcdef0123456789abcdef',
    streamSid,
    callSid,
    tracks,
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
    customParameters: {},
    ...options.start,
  };
  const { gap = { afterMs: 0, ms: 0 } } = options;
  const media = encoded('pcm_mulaw', 8_000, options.pcm).flatMap((frame, at) =>
    tracks.map((track) => ({
      event: 'media',
      sequenceNumber: String(at + 3),
      media: {
        track,
        chunk: String(at + 1),
        timestamp: String(at * FRAME_MS + (at * FRAME_MS < gap.afterMs ? 0 : gap.ms)),
        payload: frame.toString('base64'),
      },
      streamSid,
    })),
  );
  const messages = [
    { event: 'connected', protocol: 'Call', version: '1.0.0' },
    { event: 'start', sequenceNumber: '1', start, streamSid },
    ...media,
    {
      event: 'dtmf',
      streamSid,
      sequenceNumber: '900',
      dtmf: { track: 'inbound_track', digit: '5' },
    },
    { event: 'stop', sequenceNumber: '901', stop: { callSid }, streamSid },
  ];
  const { socket } = await call(
    url,
    messages.map((message) => JSON.stringify(message)),
    [],
    options.headers,
  );
  socket.close();
}

/** mod_audio_fork: metadata, then L16; stereo has the caller on the left. */
export async function freeSwitchCall(url: string, channels: 1 | 2): Promise<unknown[]> {
  const mono = encoded('pcm_s16le', 16_000);
  const frames = channels === 1 ? mono : mono.map(doubled);
  const metadata = JSON.stringify({ uuid: 'a1b2c3', from: '+254700000001' });
  const messages = [metadata, ...frames, JSON.stringify({ dtmf: '9' })];
  const { socket, answers } = await call(url, messages, ['audio.drachtio.org']);
  // Silence ends the sentence of each leg, not the end of the call.
  while (answers.filter(isFinal).length < channels) await once(socket, 'message');
  socket.close();
  return answers;
}

function isFinal(answer: unknown): boolean {
  return JSON.stringify(answer).includes('"is_final":true');
}

function doubled(mono: Buffer): Buffer {
  const stereo = Buffer.alloc(mono.byteLength * 2);
  for (let at = 0; at < mono.byteLength; at += 2) {
    mono.copy(stereo, at * 2, at, at + 2);
    mono.copy(stereo, at * 2 + 2, at, at + 2);
  }
  return stereo;
}

/** jambonz custom speech: start, linear audio, stop. */
export async function jambonzCall(
  url: string,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<unknown[]> {
  const start = {
    type: 'start',
    language: 'ki-KE',
    format: 'raw',
    encoding: 'LINEAR16',
    interimResults: true,
    sampleRateHz: 8000,
    options: { callSid: 'jb-42' },
    ...changes,
  };
  const audio = encoded('pcm_s16le', 8_000);
  const messages = [JSON.stringify(start), ...audio, JSON.stringify({ type: 'stop' })];
  const { socket, answers } = await call(url, messages);
  await once(socket, 'close');
  return answers;
}

/** The sentence without the silence after it, as AudioSocket frames at 8 kHz. The line stays open. */
export async function asteriskSentence(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(Buffer.from([0x01, 0, 16, ...Array<number>(16).fill(7)]));
  sendSentence(socket);
  return socket;
}

export function sendSentence(socket: Socket): void {
  for (const frame of encoded('pcm_s16le', 8_000, sentence())) {
    socket.write(
      Buffer.concat([Buffer.from([0x10, frame.length >> 8, frame.length & 0xff]), frame]),
    );
  }
}

export function sentence(): Int16Array {
  return wavToPcm16k(readFileSync(SPEECH));
}

/** The bytes that Asterisk 22 sent for the dialplan in asterisk/extensions.conf, in pieces of odd sizes. */
export async function asteriskCall(port: number): Promise<void> {
  const path = join(import.meta.dirname, 'recordings/asterisk-22-audiosocket.bin.gz');
  const bytes = gunzipSync(readFileSync(path));
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  for (let at = 0; at < bytes.byteLength; at += 777) socket.write(bytes.subarray(at, at + 777));
  socket.end();
}
