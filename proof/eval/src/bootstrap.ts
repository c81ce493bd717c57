import { seededRandom } from './conditions.ts';
import { round } from './statistics.ts';

/** Errors and words (or letters) of one recording. */
export interface Count {
  readonly errors: number;
  readonly total: number;
  /** Recordings of one speaker are alike, so speakers are resampled, not recordings. */
  readonly speaker: string;
}

/** A rate in percent with its 95 % confidence interval. */
export interface Interval {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** A difference on the same recordings. */
export interface Improvement extends Interval {
  /** How many speakers it rests on. Null if they are unknown: each recording then counts as a speaker. */
  readonly speakers: number | null;
}

/** The speaker of recordings that name none. Each of them is resampled by itself. */
export const UNKNOWN_SPEAKER = 'unknown';
/** If all of fewer speakers improved, chance alone would do that more than one time in twenty. */
export const SPEAKERS_MIN = 6;

const RESAMPLES = 1_000;
const SEED = 7;

/** Returns the error rate of all recordings with a bootstrap interval. */
export function errorRate(counts: readonly Count[]): Interval {
  const rate = rateOf(counts);
  const total = counts.reduce((sum, count) => sum + count.total, 0);
  // With no error in n words, the upper bound is 3/n.
  if (rate === 0) return { rate, low: 0, high: round(Math.min(100, 300 / Math.max(1, total))) };
  return { rate: round(rate), ...range(counts, rateOf) };
}

/** Returns how much lower b's rate is than a's on the same recordings. An interval above 0 means that b is better. */
export function improvement(a: readonly Count[], b: readonly Count[]): Improvement {
  const pairs = a.map((count, at) => ({ speaker: count.speaker, a: count, b: b[at] ?? count }));
  const difference = (drawn: readonly (typeof pairs)[number][]): number =>
    rateOf(drawn.map((pair) => pair.a)) - rateOf(drawn.map((pair) => pair.b));
  const named = pairs.every(({ speaker }) => speaker !== UNKNOWN_SPEAKER);
  return {
    rate: round(difference(pairs)),
    ...range(pairs, difference),
    speakers: named ? bySpeaker(pairs).length : null,
  };
}

function rateOf(counts: readonly { errors: number; total: number }[]): number {
  let [errors, total] = [0, 0];
  for (const count of counts) {
    errors += count.errors;
    total += count.total;
  }
  return total === 0 ? 0 : (100 * errors) / total;
}

function bySpeaker<Item extends { speaker: string }>(items: readonly Item[]): Item[][] {
  const known = items.filter(({ speaker }) => speaker !== UNKNOWN_SPEAKER);
  const unknown = items.filter(({ speaker }) => speaker === UNKNOWN_SPEAKER);
  const groups = Map.groupBy(known, ({ speaker }) => speaker);
  return [...groups.values(), ...unknown.map((item) => [item])];
}

/** The interval over speakers. A few speakers give too narrow a one, so theirs is never narrower than that over recordings. */
function range<Item extends { speaker: string }>(
  items: readonly Item[],
  rate: (drawn: readonly Item[]) => number,
): { low: number; high: number } {
  const groups = bySpeaker(items);
  const speakers = resample(groups, rate);
  if (groups.length >= SPEAKERS_MIN) return speakers;
  const alone = resample(
    items.map((item) => [item]),
    rate,
  );
  return {
    low: Math.min(speakers.low, alone.low),
    high: Math.max(speakers.high, alone.high),
  };
}

function resample<Item>(
  all: readonly (readonly Item[])[],
  rate: (drawn: readonly Item[]) => number,
): { low: number; high: number } {
  const random = seededRandom(SEED);
  const rates = Array.from({ length: RESAMPLES }, () =>
    rate(all.flatMap(() => all[Math.floor(random() * all.length)] ?? [])),
  );
  const sorted = rates.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { low: round(at(0.025)), high: round(at(0.975)) };
}
