import { AUDIO } from '@svc-asr/protocol';
import { seededRandom } from '../conditions.ts';
import type { Phrase } from './phrases.ts';

/** A minute of one voice, or of two in turns, with known pauses. */
export interface Conversation {
  readonly voice: string;
  readonly letters: boolean;
  readonly wave: Float32Array;
  readonly phrases: readonly SpokenPhrase[];
}

export interface SpokenPhrase {
  readonly start: number;
  readonly end: number;
  /** A short word or letter with long pauses around it. */
  readonly alone: boolean;
  /** Said by the second voice of a dialogue. */
  readonly second?: boolean;
}

const RATE = AUDIO.sampleRateHz;
const GAPS_MS = [200, 400, 600, 900, 1_200, 1_800, 3_000];
/** In a dialogue the other voice goes on after such a gap. */
const HANDOVER_GAP_MS = 600;
const GAPS_AROUND_SHORT_MS = [1_200, 1_800];
const SHORT_S = 0.42;
const SHARE_OF_SHORT = 0.25;
const END_SILENCE_S = 3;

export function converse(
  phrases: readonly Phrase[],
  options: {
    voice: string;
    letters: boolean;
    seconds: number;
    seed: number;
    /** Of the second voice of a dialogue. */
    answers?: readonly Phrase[];
  },
): Conversation {
  const random = seededRandom(options.seed);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const voices = [phrases, ...(options.answers === undefined ? [] : [options.answers])].map(
    (said) => ({
      short: said.filter(({ wave }) => wave.length < SHORT_S * RATE),
      others: said.filter(({ wave }) => wave.length >= SHORT_S * RATE),
    }),
  );
  const wave = new Float32Array(options.seconds * RATE);
  const spoken: SpokenPhrase[] = [];
  let [at, gapMs, turn] = [RATE, 1_000, 0];
  for (;;) {
    const { short = [], others = [] } = voices[turn % voices.length] ?? {};
    const alone = short.length > 0 && random() < SHARE_OF_SHORT;
    const phrase = pick(alone || others.length === 0 ? short : others);
    if (phrase === undefined) throw new Error(`The voice ${options.voice} has no phrases.`);
    if (alone && gapMs < 900) at += ((1_200 - gapMs) * RATE) / 1_000;
    const end = at + phrase.wave.length;
    if (end + END_SILENCE_S * RATE > wave.length) break;
    wave.set(phrase.wave, at);
    spoken.push({ start: at, end, alone, second: turn % voices.length === 1 });
    gapMs = pick(alone ? GAPS_AROUND_SHORT_MS : GAPS_MS) ?? 1_200;
    if (gapMs >= HANDOVER_GAP_MS) turn += 1;
    at = end + (gapMs * RATE) / 1_000;
  }
  return { voice: options.voice, letters: options.letters, wave, phrases: spoken };
}
