import { AudioConverter, type SampleEncoding } from '@svc-asr/sdk/audio';
import { badRequest } from '../refusal.ts';

/** Names of raw encodings in Deepgram's and OpenAI's parameters. */
const ENCODINGS: Readonly<Record<string, SampleEncoding>> = {
  linear16: 'pcm_s16le',
  pcm16: 'pcm_s16le',
  'audio/pcm': 'pcm_s16le',
  linear32: 'pcm_s32le',
  mulaw: 'mulaw',
  g711_ulaw: 'mulaw',
  'audio/pcmu': 'mulaw',
  alaw: 'alaw',
  g711_alaw: 'alaw',
  'audio/pcma': 'alaw',
};
const RATE_HZ = { least: 8_000, most: 48_000 } as const;

/** Null if the name is not a raw encoding. */
export function rawEncoding(name: string): SampleEncoding | null {
  return Object.hasOwn(ENCODINGS, name) ? (ENCODINGS[name] ?? null) : null;
}

/** Converts raw audio to 16 kHz mono. Throws for a rate that speech isn't recorded at. */
export function createRawConverter(format: {
  readonly encoding: SampleEncoding;
  readonly sampleRateHz: number;
  readonly channels?: number;
}): AudioConverter {
  const { sampleRateHz } = format;
  const isKnown =
    Number.isInteger(sampleRateHz) && sampleRateHz >= RATE_HZ.least && sampleRateHz <= RATE_HZ.most;
  if (!isKnown) {
    throw badRequest(
      'unsupported_sample_rate',
      `The sample rate is not supported. Use ${RATE_HZ.least} to ${RATE_HZ.most} Hz, best 16000.`,
      'sample_rate',
    );
  }
  return new AudioConverter(format);
}

/** Programs that send WAV files often name the encoding of their samples as well. */
export function isWav(start: Buffer): boolean {
  return start.toString('latin1', 0, 4) === 'RIFF' && start.toString('latin1', 8, 12) === 'WAVE';
}
