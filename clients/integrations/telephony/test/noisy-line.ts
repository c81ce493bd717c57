import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { wavToPcm16k } from '@svc-asr/sdk/audio';

const FIXTURES = join(import.meta.dirname, '../../../../core/models/fixtures');
const SAMPLES_PER_MS = 16;
const LEAD_MS = 500;
/** Long enough to end an utterance. The rest of it is too short to be one. */
const PAUSE_MS = 1_400;

export interface NoisyLine {
  readonly samples: Int16Array;
  /** Where each sentence ends, and where the pause after it ends. */
  readonly pauses: readonly { readonly startMs: number; readonly endMs: number }[];
}

/** Recorded sentences, each with a pause after it, and white noise over all of it. */
export function noisyLine(names: readonly string[], snrDb: number): NoisyLine {
  const sentences = names.map((name) => wavToPcm16k(readFileSync(join(FIXTURES, `${name}.wav`))));
  const spoken = sentences.reduce((sum, { length }) => sum + length, 0);
  const silentMs = LEAD_MS + PAUSE_MS * sentences.length;
  const samples = noise(spoken + silentMs * SAMPLES_PER_MS, rms(sentences) / 10 ** (snrDb / 20));
  const pauses = [];
  let at = LEAD_MS * SAMPLES_PER_MS;
  for (const sentence of sentences) {
    for (const [offset, sample] of sentence.entries()) {
      samples[at + offset] = clamp((samples[at + offset] ?? 0) + sample);
    }
    at += sentence.length;
    const startMs = at / SAMPLES_PER_MS;
    pauses.push({ startMs, endMs: startMs + PAUSE_MS });
    at += PAUSE_MS * SAMPLES_PER_MS;
  }
  return { samples, pauses };
}

function rms(sentences: readonly Int16Array[]): number {
  let sum = 0;
  let count = 0;
  for (const sentence of sentences) {
    for (const sample of sentence) sum += sample * sample;
    count += sentence.length;
  }
  return Math.sqrt(sum / count);
}

/** The same noise on every machine. */
function noise(length: number, level: number): Int16Array {
  let state = 1;
  const peak = level * Math.sqrt(3);
  return Int16Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return clamp(peak * ((2 * state) / 2_147_483_647 - 1));
  });
}

function clamp(sample: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(sample)));
}
