import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { AUDIO } from '@svc-asr/protocol';
import type { Engine } from '@svc-asr/engine';
import { toPcm, toSamples } from './audio.ts';
import { measure, type Result } from './measure.ts';
import { characterErrorRate, wordErrorRate } from './scoring.ts';
import type { Utterance } from './sets.ts';

/** Measures the accuracy and bit rate of telephone and voice-note codecs. */

interface Codec {
  readonly name: string;
  /** Part of the figures' names. */
  readonly figure: string;
  /** Pipeline of programs that encodes 16 kHz PCM. */
  readonly encode: readonly (readonly string[])[];
  /** ffmpeg's options for reading the encoded bytes. */
  readonly input: readonly string[];
}

export interface CodecResult {
  readonly codec: string;
  readonly figure: string;
  readonly kbitPerSecond: number;
  readonly results: readonly Result[];
}

const RATE = AUDIO.sampleRateHz;
const PCM_16K = ['-f', 's16le', '-ar', String(RATE), '-ac', '1'];
const PCM_8K = ['-f', 's16le', '-ar', '8000', '-ac', '1'];
/** Silence between sentences, so that a codec's delay doesn't move words between them. */
const GAP_SAMPLES = RATE * 0.3;

const CODECS: readonly Codec[] = [
  { name: 'PCM, 16 kHz', figure: 'pcm', encode: [], input: PCM_16K },
  {
    name: 'G.711 mu-law, 8 kHz',
    figure: 'g711',
    encode: [ffmpeg(PCM_16K, ['-ar', '8000', '-f', 'mulaw'])],
    input: ['-f', 'mulaw', '-ar', '8000', '-ac', '1'],
  },
  {
    name: 'AMR-NB 12.2, 8 kHz',
    figure: 'amr_nb',
    encode: [ffmpeg(PCM_16K, PCM_8K), ['python3', join(import.meta.dirname, 'amr_nb.py')]],
    input: ['-f', 'amr'],
  },
  ...[12, 16, 24, 32].map((kbit) => ({
    name: `Opus ${kbit} kbit/s`,
    figure: `opus_${kbit}`,
    encode: [
      ffmpeg(PCM_16K, ['-c:a', 'libopus', '-b:a', `${kbit}k`, '-application', 'voip', '-f', 'ogg']),
    ],
    input: ['-f', 'ogg'],
  })),
];

function ffmpeg(input: readonly string[], output: readonly string[]): readonly string[] {
  return ['ffmpeg', '-v', 'error', ...input, '-i', 'pipe:0', ...output, 'pipe:1'];
}

/** Measures every codec on the same sentences. */
export async function* measureCodecs(
  engine: Engine,
  clean: readonly Utterance[],
): AsyncGenerator<CodecResult> {
  const speech = joined(clean);
  // Encodes everything first, so that a missing encoder fails before minutes of measuring.
  for (const { codec, encodedBytes, decoded } of await transcode(speech)) {
    const utterances = cutLike(clean, toSamples(decoded));
    yield {
      codec: codec.name,
      figure: codec.figure,
      kbitPerSecond: (encodedBytes * 8 * RATE * 2) / speech.byteLength / 1000,
      results: await measure(engine, { name: codec.name, utterances }),
    };
  }
}

interface Transcoded {
  readonly codec: Codec;
  readonly encodedBytes: number;
  /** 16 kHz PCM. */
  readonly decoded: Buffer;
}

/** Sends 16 kHz PCM through every codec and back. */
export async function transcode(speech: Buffer): Promise<Transcoded[]> {
  const transcoded: Transcoded[] = [];
  for (const codec of CODECS) {
    let encoded = speech;
    for (const program of codec.encode) encoded = await pipe(program, encoded);
    const decoded = await pipe(ffmpeg(codec.input, PCM_16K), encoded);
    transcoded.push({ codec, encodedBytes: encoded.byteLength, decoded });
  }
  return transcoded;
}

/** All sentences in one recording, so that each codec runs once. */
function joined(clean: readonly Utterance[]): Buffer {
  const gap = new Uint8Array(GAP_SAMPLES * 2);
  return Buffer.concat(clean.flatMap(({ wave }) => [toPcm(wave), gap]));
}

/** Cuts the recording where its sentences were joined. */
function cutLike(clean: readonly Utterance[], decoded: Float32Array): Utterance[] {
  let at = 0;
  return clean.map((utterance) => {
    const end = at + utterance.wave.length + GAP_SAMPLES;
    const wave = decoded.slice(at, end);
    at = end;
    return { ...utterance, wave };
  });
}

async function pipe([program = '', ...args]: readonly string[], input: Buffer): Promise<Buffer> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const exit = new Promise<number | null>((resolve, reject) => {
    child.on('error', ({ message }) =>
      reject(new Error(`${program} does not start (${message}). Run .ci/bootstrap, then retry.`)),
    );
    child.on('close', resolve);
  });
  // A program that exits early closes its input. Its exit status is checked below.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [output, problem, status] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    exit,
  ]);
  if (status === 0) return output;
  throw new Error(`${program} failed: ${problem.toString('utf8').trim()}`);
}

export function presentCodecs(measured: readonly CodecResult[]): string {
  const rows = measured.map(({ codec, kbitPerSecond, results }) => {
    const rate = (language: string): string => {
      const result = results.find((each) => each.language === language);
      if (result === undefined) return '';
      return `${wordErrorRate(result.score).toFixed(1)} / ${characterErrorRate(result.score).toFixed(1)}`;
    };
    const bytes = Math.round((kbitPerSecond * 60) / 8);
    return `| ${codec} | ${kbitPerSecond.toFixed(1)} | ${bytes} | ${rate('ki')} | ${rate('luo')} |`;
  });
  return [
    '| codec | kbit/s | kB per minute | Kikuyu WER / CER % | Dholuo WER / CER % |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

export function codecFigures(measured: readonly CodecResult[]): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const { figure, kbitPerSecond, results } of measured) {
    figures[`kbit_${figure}`] = Math.round(kbitPerSecond * 10) / 10;
    for (const { language, score } of results) {
      figures[`wer_${language}_${figure}`] = wordErrorRate(score);
    }
  }
  return figures;
}
