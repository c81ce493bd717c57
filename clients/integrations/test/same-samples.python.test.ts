import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VoiceGate, wavToPcm16k } from '../../sdk/src/audio.ts';
import { SvcClient } from '../../sdk/src/index.ts';
import { openStream } from '../../sdk/src/stream.ts';
import { speech } from '../../../proof/testing/src/speech/fixtures.ts';
import { wavOf } from '../../../proof/testing/src/speech/wav.ts';
import {
  startRecordingService,
  type RecordedUtterance,
  type RecordingService,
} from '../../../proof/testing/src/speech/recording-service.ts';
import { sendThroughLiveKit } from '../livekit/test/send-recording.ts';
import { sendThroughBridge } from '../telephony/test/send-recording.ts';
import { sendThroughPython } from './send-recording.ts';

/** Every client gives the recogniser the samples of the recording, so that no client changes the text. */

const ROOT = join(import.meta.dirname, '../../..');
const MODEL = 'svc-asr-kikuyu-v1';
const SILENCE_MS = 700;
const SAMPLES_PER_MS = 16;

interface Recording {
  readonly samples: Int16Array;
  readonly path: string;
}

let service: RecordingService;
let folder: string;
beforeAll(async () => {
  service = await startRecordingService();
  folder = await mkdtemp(join(tmpdir(), 'same-samples-'));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

function settings() {
  const { SVC_BASE_URL: baseUrl = '', SVC_API_KEY: apiKey = '' } = service.env;
  return { baseUrl, apiKey, silenceMs: SILENCE_MS };
}

/** Writes a WAV file. Quiet noise under all of it makes every sample distinct from its neighbours. */
async function record(name: string, parts: readonly (string | number)[]): Promise<Recording> {
  const pieces = parts.map((part) =>
    typeof part === 'number'
      ? new Int16Array(part * SAMPLES_PER_MS)
      : new Int16Array(Uint8Array.from(speech(part).pcm).buffer),
  );
  let state = 1;
  const samples = Int16Array.from(
    pieces.flatMap((piece) => [...piece]),
    (sample) => {
      state = (state * 48_271) % 2_147_483_647;
      return Math.max(-32_768, Math.min(32_767, sample + (state % 9) - 4));
    },
  );
  const path = join(folder, `${name}.wav`);
  await writeFile(path, wavOf(bytesOf(samples)));
  return { samples, path };
}

function bytesOf(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const env = { ...process.env, ...service.env };
  await promisify(execFile)(program, [...args], { env, timeout: 120_000 });
}

function python(client: string): Send {
  return ({ path }) => sendThroughPython(client, { path, env: service.env });
}

/** Writes in pieces of odd sizes, as a network delivers them. */
async function streamed(samples: Int16Array): Promise<void> {
  const client = new SvcClient(settings());
  const stream = openStream({ getSession: () => client.sessions.create({ model: MODEL }) });
  const bytes = bytesOf(samples);
  for (let at = 0; at < bytes.byteLength; at += 777)
    await stream.write(bytes.subarray(at, at + 777));
  await stream.finish();
}

type Send = (recording: Recording) => Promise<void>;

/** Clients that send all audio. */
const UNGATED: readonly (readonly [string, Send])[] = [
  ['a stream of the SDK', ({ samples }) => streamed(samples)],
  ['wavToPcm16k of the SDK', async ({ path }) => streamed(wavToPcm16k(await readFile(path)))],
  [
    'the command line',
    ({ path }) =>
      run(process.execPath, [
        join(ROOT, 'clients/cli/src/main.ts'),
        'transcribe',
        path,
        '--language',
        'ki',
      ]),
  ],
  ['the Python SDK', python('sdk')],
  ['Pipecat', python('pipecat')],
  ['Pipecat with Silero VAD', python('pipecat-vad')],
  ['Pipecat with endpointing', python('pipecat-endpointing')],
];

/** Clients that skip long silence with the voice gate. */
const GATED: readonly (readonly [string, Send])[] = [
  [
    'LiveKit in Node',
    ({ samples }) => sendThroughLiveKit(samples, { ...settings(), sampleRateHz: 16_000 }),
  ],
  ['LiveKit in Python', python('livekit')],
  [
    'a call from FreeSWITCH, L16 at 16 kHz',
    ({ samples }) => sendThroughBridge('freeswitch', samples, settings()),
  ],
  [
    'a call from Asterisk, signed linear at 16 kHz',
    ({ samples }) => sendThroughBridge('audiosocket', samples, settings()),
  ],
];

async function sendAt48kHz({ path }: Recording): Promise<void> {
  const raw = `${path}.48k`;
  await run('ffmpeg', ['-v', 'error', '-i', path, '-ar', '48000', '-f', 's16le', raw]);
  const samples = new Int16Array(Uint8Array.from(await readFile(raw)).buffer);
  await sendThroughLiveKit(samples, { ...settings(), sampleRateHz: 48_000 });
}

function sendFromTwilio({ samples }: Recording): Promise<void> {
  return sendThroughBridge('twilio', samples, settings());
}

function joined(utterances: readonly RecordedUtterance[]): Int16Array {
  return Int16Array.from(utterances.flatMap(({ samples }) => [...samples]));
}

function textOf(utterances: readonly RecordedUtterance[]): string {
  return utterances.flatMap(({ text }) => (text === '' ? [] : [text])).join(' ');
}

/** Where two recordings first differ, or null. A diff of a hundred thousand numbers could not be read. */
function firstDifference(received: Int16Array, sent: Int16Array): object | null {
  const at = sent.findIndex((sample, index) => received[index] !== sample);
  if (at < 0 && received.length === sent.length) return null;
  return { at, received: received[at], sent: sent[at], lengths: [received.length, sent.length] };
}

/** The samples that the voice gate of the SDK passes. */
function gated(samples: Int16Array): Int16Array {
  const gate = new VoiceGate({ holdMs: SILENCE_MS });
  const outputs = [...gate.push(samples), ...gate.end()];
  return Int16Array.from(
    outputs.flatMap((output) => (output.do === 'send' ? [...output.samples] : [])),
  );
}

/** The correlation of two recordings, one of them later by `lag` samples: 1 if they differ only in loudness. */
function correlation(a: Int16Array, b: Int16Array, lag: number): number {
  const [from, to] = [Math.max(0, -lag), Math.min(a.length, b.length - lag)];
  let [ab, aa, bb] = [0, 0, 0];
  for (let at = from; at < to; at += 1) {
    const [x, y] = [a[at] ?? 0, b[at + lag] ?? 0];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / Math.sqrt(aa * bb);
}

describe('a sentence with half a second of silence before it', () => {
  let sentence: Recording;
  beforeAll(async () => {
    sentence = await record('sentence', [500, 'kikuyu-2', 300]);
  });

  test.each([...UNGATED, ...GATED])(
    '%s gives the recogniser every sample, unchanged, and gets the same text',
    async (_, send) => {
      await send(sentence);
      const utterances = await service.take();
      expect(firstDifference(joined(utterances), sentence.samples)).toBeNull();
      expect(textOf(utterances)).toBe(speech('kikuyu-2').expected);
    },
  );

  /**
   * These paths resample, which changes samples: by rounding at 48 kHz, by mu-law and the missing band above 4 kHz at
   * 8 kHz. LiveKit's own resampler keeps the last 30 ms of a stream that ends.
   */
  test.each([
    ['LiveKit at 48 kHz', sendAt48kHz, { correlation: 0.9999, lateMs: 30 }],
    ['a call from Twilio, mu-law at 8 kHz', sendFromTwilio, { correlation: 0.998, lateMs: 0 }],
  ] as const)(
    '%s gives the recogniser the same waveform without a shift',
    async (_, send, least) => {
      await send(sentence);
      const utterances = await service.take();
      const received = joined(utterances);
      const missingMs = (sentence.samples.length - received.length) / SAMPLES_PER_MS;
      expect(Math.round(missingMs)).toBeLessThanOrEqual(least.lateMs);
      const inPlace = correlation(sentence.samples, received, 0);
      expect(inPlace).toBeGreaterThan(least.correlation);
      for (const lag of [-1, 1]) {
        expect(correlation(sentence.samples, received, lag)).toBeLessThan(inPlace);
      }
      expect(textOf(utterances)).toBe(speech('kikuyu-2').expected);
    },
  );
});

describe('two sentences with a long pause between them', () => {
  let conversation: Recording;
  beforeAll(async () => {
    conversation = await record('conversation', [200, 'kikuyu-2', 2_500, 'kikuyu-4', 1_200]);
  });

  test.each(UNGATED)('%s gives the recogniser every sample, unchanged', async (_, send) => {
    await send(conversation);
    expect(firstDifference(joined(await service.take()), conversation.samples)).toBeNull();
  });

  test.each(GATED)(
    '%s gives the recogniser exactly the samples that the voice gate passes',
    async (_, send) => {
      await send(conversation);
      const passed = gated(conversation.samples);
      expect(passed.length).toBeLessThan(conversation.samples.length - 16_000);
      expect(firstDifference(joined(await service.take()), passed)).toBeNull();
    },
  );
});
