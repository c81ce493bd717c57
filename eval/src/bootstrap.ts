import { seededRandom } from './conditions.ts';

/** Errors and words (or letters) of one recording. */
export interface Count {
  readonly errors: number;
  readonly total: number;
  /** Recordings of one speaker are alike, so speakers are resampled instead of recordings if there are enough. */
  readonly speaker: string;
}

/** A rate in percent with its 95 % confidence interval. */
export interface Interval {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 1_000;
const SPEAKERS_MIN = 8;
const SEED = 7;

/** Returns the error rate of all recordings with a bootstrap interval. */
export function errorRate(counts: readonly Count[]): Interval {
  const rates = resample(groups(counts), (drawn) => rateOf(drawn));
  const rate = rateOf(counts);
  const total = counts.reduce((sum, count) => sum + count.total, 0);
  // With no error in n words, the upper bound is 3/n.
  if (rate === 0) return { rate, low: 0, high: round(Math.min(100, 300 / Math.max(1, total))) };
  return { rate: round(rate), ...range(rates) };
}

/** Returns how much lower b's rate is than a's on the same recordings. An interval above 0 means that b is better. */
export function improvement(a: readonly Count[], b: readonly Count[]): Interval {
  const pairs = a.map((count, at) => ({ speaker: count.speaker, a: count, b: b[at] ?? count }));
  const difference = (drawn: readonly (typeof pairs)[number][]): number =>
    rateOf(drawn.map((pair) => pair.a)) - rateOf(drawn.map((pair) => pair.b));
  return { rate: round(difference(pairs)), ...range(resample(groups(pairs), difference)) };
}

function rateOf(counts: readonly { errors: number; total: number }[]): number {
  let [errors, total] = [0, 0];
  for (const count of counts) {
    errors += count.errors;
    total += count.total;
  }
  return total === 0 ? 0 : (100 * errors) / total;
}

function groups<Item extends { speaker: string }>(items: readonly Item[]): Item[][] {
  const bySpeaker = [...Map.groupBy(items, (item) => item.speaker).values()];
  return bySpeaker.length >= SPEAKERS_MIN ? bySpeaker : items.map((item) => [item]);
}

function resample<Item>(all: readonly Item[][], rate: (drawn: Item[]) => number): number[] {
  const random = seededRandom(SEED);
  return Array.from({ length: RESAMPLES }, () =>
    rate(all.flatMap(() => all[Math.floor(random() * all.length)] ?? [])),
  );
}

function range(rates: readonly number[]): { low: number; high: number } {
  const sorted = rates.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { low: round(at(0.025)), high: round(at(0.975)) };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
