import { AUDIO } from '@svc-asr/protocol';
import { seededRandom } from '@svc-asr/eval/conditions.ts';

const RATE = AUDIO.sampleRateHz;

/** Speech with pauses, and the true start and end of each utterance. */
export interface Conversation {
  readonly wave: Float32Array;
  readonly turns: readonly { readonly startSample: number; readonly endSample: number }[];
}

/** Joins the recordings with pauses of random length between the two bounds. Deterministic for a seed. */
export function converse(
  recordings: readonly Float32Array[],
  input: { seed: number; pauseMinMs: number; pauseMaxMs: number },
): Conversation {
  const random = seededRandom(input.seed);
  const pauseSamples = (): number => {
    const ms = input.pauseMinMs + (input.pauseMaxMs - input.pauseMinMs) * random();
    return Math.round((ms * RATE) / 1000);
  };
  const spoken = recordings.map(trim);
  const pauses = spoken.map(pauseSamples);
  const lead = pauseSamples();
  const length = spoken.reduce((sum, wave, at) => sum + wave.length + (pauses[at] ?? 0), lead);
  const wave = new Float32Array(length);
  const turns: { startSample: number; endSample: number }[] = [];
  let at = lead;
  for (const [index, recording] of spoken.entries()) {
    wave.set(recording, at);
    turns.push({ startSample: at, endSample: at + recording.length });
    at += recording.length + (pauses[index] ?? 0);
  }
  return { wave: withRoomNoise(wave, input.seed), turns };
}

/** Cuts the silence around a clean recording, so that the true start and end are known. */
function trim(wave: Float32Array): Float32Array {
  const peak = wave.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
  const isLoud = (sample: number): boolean => Math.abs(sample) > 0.02 * peak;
  const end = wave.findLastIndex(isLoud) + 1;
  return wave.subarray(Math.max(0, wave.findIndex(isLoud)), end);
}

/** A microphone's noise floor, at about -66 dB. */
function withRoomNoise(wave: Float32Array, seed: number): Float32Array {
  const random = seededRandom(seed + 1);
  return wave.map((sample) => sample + 0.000_9 * (random() + random() - 1));
}
