import type { Cell } from './cell.ts';
import type { Measures } from './measures.ts';
import type { StormName } from './storm-names.ts';

/** Seconds before the storm that count as normal. */
const NORMAL_MS = 8_000;
/** The load of the nodes is even again after this long. */
const EVEN_MS = 30_000;
const EVEN_FOR_MS = 10_000;
const QUEUE_MS = 100;

/** What a storm cost. The names are kept stable. */
export interface StormFigures {
  readonly streams: number;
  /** Streams that it interrupted. */
  readonly affected: number;
  readonly recovered_pct: number;
  /** Until an interrupted stream was ready again, from the end of the outage on. */
  readonly gap_mean_ms: number;
  readonly gap_p50_ms: number;
  readonly gap_p99_ms: number;
  readonly gap_max_ms: number;
  /** The same of streams that began during the storm or later. */
  readonly new_p99_ms: number;
  readonly new_max_ms: number;
  /** Streams that ended with an error. */
  readonly failed: number;
  /** Requests in the worst second against a normal one. */
  readonly amplification: number;
  /** The most requests within 50 ms, as a share of the affected streams. */
  readonly burst_pct: number;
  readonly refused: number;
  readonly early_retries: number;
  /** Upgrades to nodes that were gone, as a share of the affected streams. */
  readonly dead_upgrades_pct: number;
  /** Seconds in which statements waited for more than 100 ms. */
  readonly queue_s: number;
  readonly lost_ms: number;
  readonly doubled_ms: number;
  /** Clients that waited for more than 6 s although their account had a free slot. */
  readonly locked_out: number;
  /** The largest load of a node against the mean, from 30 s after the storm or the outage on. */
  readonly unevenness: number;
  readonly cpu_s: number;
  readonly peak_mib: number;
}

export function figuresOf(input: {
  readonly name: StormName;
  readonly cell: Cell;
  readonly measures: Measures;
  /** How long the cell ran, without the end of its streams. */
  readonly ranMs: number;
  readonly stillWaiting: number;
  readonly unfinished: number;
  readonly cpuMs: number;
  readonly peakBytes: number;
}): StormFigures {
  const { cell, measures, ranMs } = input;
  const { series } = cell;
  const { stormAtMs, healedAtMs, affected, gaps, newGaps } = measures;
  const normal = series.sum('requests', stormAtMs - NORMAL_MS, stormAtMs) / (NORMAL_MS / 1000);
  const uneven = series.values(
    'unevenness',
    healedAtMs + EVEN_MS,
    healedAtMs + EVEN_MS + EVEN_FOR_MS,
  );
  const failed = [...measures.failures.values()].reduce((sum, count) => sum + count, 0);
  for (const [what, count] of measures.failures) console.log(`failed, ${what}: ${count}`);
  for (const [what, count] of Object.entries(series.sums('answer ', stormAtMs))) {
    console.log(`answered ${what}: ${count}`);
  }
  return {
    streams: measures.streams,
    affected,
    recovered_pct: share(gaps.length, gaps.length + input.stillWaiting + input.unfinished),
    gap_mean_ms: Math.round(gaps.reduce((sum, gap) => sum + gap, 0) / Math.max(1, gaps.length)),
    gap_p50_ms: quantile(gaps, 0.5),
    gap_p99_ms: quantile(gaps, 0.99),
    gap_max_ms: quantile(gaps, 1),
    new_p99_ms: quantile(newGaps, 0.99),
    new_max_ms: quantile(newGaps, 1),
    failed: failed + input.unfinished,
    amplification: round(Math.max(...series.values('requests', stormAtMs, ranMs)) / normal),
    burst_pct: share(measures.largestBurst, affected),
    refused: measures.refused,
    early_retries: measures.earlyRetries,
    dead_upgrades_pct: share(measures.deadUpgrades, affected),
    queue_s: series.values('queue ms', stormAtMs, ranMs).filter((ms) => ms > QUEUE_MS).length,
    lost_ms: measures.lostMs,
    doubled_ms: measures.doubledMs,
    locked_out: measures.lockedOut.size,
    unevenness: round(uneven.reduce((sum, value) => sum + value, 0) / uneven.length),
    cpu_s: round(input.cpuMs / 1000),
    peak_mib: Math.round(input.peakBytes / 2 ** 20),
  };
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0);
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : round((100 * part) / whole);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

type Goals = Readonly<Partial<Record<keyof StormFigures, number>>>;

/** What every storm must keep, whatever it costs. Nobody waits longer than 6 s for a slot that is free. */
const RULES: Goals = { lost_ms: 0, doubled_ms: 0, locked_out: 0, failed: 0 };

/** The most that each figure should be. */
const GOALS: Goals = {
  ...RULES,
  early_retries: 0,
  amplification: 5,
  burst_pct: 10,
  dead_upgrades_pct: 10,
  queue_s: 5,
  unevenness: 1.2,
};

const GOALS_OF: Readonly<Partial<Record<StormName, Goals>>> = {
  third: { gap_p99_ms: 8_000, gap_max_ms: 12_000 },
  zone: { gap_p99_ms: 15_000, gap_max_ms: 20_000 },
  deploy: { gap_p99_ms: 1_000, gap_max_ms: 3_000 },
  partition: { gap_p99_ms: 5_000, gap_max_ms: 10_000 },
  database: { new_p99_ms: 5_000, new_max_ms: 10_000 },
};

/** Returns a line for each goal that was missed. */
export function missedGoals(name: StormName, figures: StormFigures): string[] {
  return missed({ ...GOALS, ...GOALS_OF[name] }, figures);
}

/** Returns a line for each rule that was broken. */
export function brokenRules(figures: StormFigures): string[] {
  return missed(RULES, figures);
}

function missed(goals: Goals, figures: StormFigures): string[] {
  const values = new Map<string, number>(Object.entries(figures));
  return Object.entries(goals).flatMap(([figure, most]) => {
    const value = values.get(figure) ?? 0;
    return value <= most ? [] : [`${figure} is ${value}, more than ${most}`];
  });
}
