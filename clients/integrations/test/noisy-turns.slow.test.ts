import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { speech } from '../../../proof/testing/src/speech/fixtures.ts';
import { wavOf } from '../../../proof/testing/src/speech/wav.ts';
import {
  startRecordingService,
  type RecordingService,
} from '../../../proof/testing/src/speech/recording-service.ts';
import { sendThroughLiveKit } from '../livekit/test/send-recording.ts';
import { sendThroughPython } from './send-recording.ts';

/** Agents get a turn for each sentence, although the line is never silent. */

const RATE = 16_000;
const SILENCE_MS = 700;
const SENTENCES = ['kikuyu-1', 'kikuyu-2'] as const;
const PAUSE = new Int16Array(2 * RATE);
/** Below the speech. */
const QUIETER_DB = 5;

let service: RecordingService;
let folder: string;
beforeAll(async () => {
  service = await startRecordingService({ confirming: true });
  folder = await mkdtemp(join(tmpdir(), 'noisy-turns-'));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** Plucked strings, five notes in two seconds. Each fades before the next. */
function holdMusic(length: number): Float32Array {
  const wave = new Float32Array(length);
  const notes = [131, 165, 196, 262, 196, 165];
  const every = 0.4 * RATE;
  for (let at = 0; at < length; at += every) {
    const hz = notes[Math.round(at / every) % notes.length] ?? 131;
    for (let i = 0; i < every && at + i < length; i += 1) {
      const t = i / RATE;
      for (let k = 1; k <= 6; k += 1) {
        const tone = Math.sin(2 * Math.PI * hz * k * t) / k;
        wave[at + i] = (wave[at + i] ?? 0) + Math.exp(-10 * t) * tone;
      }
    }
  }
  return wave;
}

/** A key every 140 ms: a click and the sound of the case. */
function keyboard(length: number): Float32Array {
  const wave = new Float32Array(length);
  let state = 1;
  for (let at = 0; at < length; at += 0.14 * RATE) {
    for (let i = 0; i < 0.05 * RATE && at + i < length; i += 1) {
      const t = i / RATE;
      state = (state * 48_271) % 2_147_483_647;
      const noise = (2 * state) / 2_147_483_647 - 1;
      wave[at + i] =
        noise * Math.exp(-120 * t) + 0.4 * Math.sin(2 * Math.PI * 260 * t) * Math.exp(-80 * t);
    }
  }
  return wave;
}

function powerOf(samples: Float32Array | Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return sum / samples.length;
}

/** Two sentences with pauses of two seconds, and the sound under all of it. */
async function record(name: string, make: (length: number) => Float32Array) {
  const spoken = SENTENCES.map((sentence) => new Int16Array(speech(sentence).pcm.slice().buffer));
  const clean = Int16Array.from(
    spoken.flatMap((sentence) => [...PAUSE, ...sentence]).concat([...PAUSE]),
  );
  const sound = make(clean.length);
  const gain = Math.sqrt(powerOf(spoken[0] ?? PAUSE) / powerOf(sound)) / 10 ** (QUIETER_DB / 20);
  const samples = clean.map((sample, at) =>
    Math.max(-32_768, Math.min(32_767, sample + gain * (sound[at] ?? 0))),
  );
  const path = join(folder, `${name}.wav`);
  await writeFile(path, wavOf(Buffer.from(samples.buffer)));
  return { samples, path };
}

type Recording = Awaited<ReturnType<typeof record>>;
type Send = (recording: Recording) => Promise<void>;

function python(client: string): Send {
  return ({ path }) => sendThroughPython(client, { path, env: service.env });
}

const CLIENTS: readonly (readonly [string, Send])[] = [
  [
    'LiveKit in Node',
    ({ samples }) => {
      const { SVC_BASE_URL: baseUrl = '', SVC_API_KEY: apiKey = '' } = service.env;
      const settings = { baseUrl, apiKey, silenceMs: SILENCE_MS, sampleRateHz: RATE };
      return sendThroughLiveKit(samples, settings);
    },
  ],
  ['LiveKit in Python', python('livekit')],
  ['Pipecat', python('pipecat-endpointing')],
];

test.each(
  [['hold music', holdMusic] as const, ['a keyboard', keyboard] as const].flatMap(([sound, make]) =>
    CLIENTS.map(([client, send]) => ({ sound, make, client, send })),
  ),
)('$client: one turn for each sentence with $sound', async ({ sound, make, client, send }) => {
  await send(await record(`${sound}-${client}`, make));
  const texts = (await service.take()).map(({ text }) => text).filter((text) => text !== '');
  expect(texts).toHaveLength(SENTENCES.length);
});
