import { expect, test } from 'vitest';
import { simulate, type SimulatedClient } from './simulated-child.ts';

/** Frames of 200 ms. */
const [ONE_SECOND, THREE_SECONDS] = [5, 15];
const FOR_MS = 60_000;
const others = Array.from({ length: 14 }, (_, at) => ({ fromMs: (at * 379) % 1_000 }));
const honest = { fromMs: 0, framesPerFlush: THREE_SECONDS };

/** Weights that don't batch, and weights whose batch of eight takes as long as five decodes. */
const SINGLY = (decodeMs: number) => ({ batchMax: 1, decodeMs: (n: number) => n * decodeMs });
const BATCHED = (decodeMs: number) => ({
  batchMax: 8,
  decodeMs: (n: number) => decodeMs * (1 + (n - 1) * 0.6),
});

type Weights = ReturnType<typeof SINGLY>;

function waitsOf(clients: readonly SimulatedClient[], weights: Weights): number[][] {
  return simulate({ clients, forMs: FOR_MS, ...weights });
}

/** Median, 95th percentile and longest. */
function figures(waitsMs: readonly number[]): [number, number, number] {
  const sorted = waitsMs.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? Infinity;
  return [at(0.5), at(0.95), at(1)];
}

function besides(framesPerFlush: number, weights: Weights, waits = false): number[] {
  const clients = others.map((other) => ({ ...other, framesPerFlush, waits }));
  return waitsOf([honest, ...clients], weights)[0] ?? [];
}

test.each([
  ['that send on', 40, false],
  ['that send on', 45, false],
  ['that send on', 60, false],
  ['that wait for their finals', 45, true],
  ['that wait for their finals', 60, true],
])(
  'finals come within two decodes beside 14 streams %s and flush every second, %d ms per decode',
  (_, decodeMs, waits) => {
    const [, p95] = figures(besides(ONE_SECOND, SINGLY(decodeMs), waits));
    expect(p95).toBeLessThanOrEqual(2 * decodeMs);
  },
);

test.each([60, 80])(
  'finals come within a batch and a decode beside 14 streams that flush every second, %d ms per decode',
  (decodeMs) => {
    const weights = BATCHED(decodeMs);
    const [, p95] = figures(besides(ONE_SECOND, weights));
    expect(p95).toBeLessThanOrEqual(weights.decodeMs(weights.batchMax) + decodeMs);
  },
);

/** Waits by deadline alone, before flushes were charged for their decodes (docs/design/scheduling.md). */
const BY_DEADLINE: [string, Weights, [number, number, number]][] = [
  ['one by one, 30 ms per decode', SINGLY(30), [60, 150, 199]],
  ['one by one, 45 ms per decode', SINGLY(45), [135, 259, 309]],
  ['one by one, 60 ms per decode', SINGLY(60), [283, 444, 501]],
  ['batched, 20 ms per decode', BATCHED(20), [20, 60, 72]],
  ['batched, 60 ms per decode', BATCHED(60), [195, 345, 409]],
  ['batched, 80 ms per decode', BATCHED(80), [403, 661, 793]],
];

test.each(BY_DEADLINE)(
  'people who flush every 3 to 12 s wait less than by deadline alone, by 30 % at the 95th percentile, %s',
  (_, weights, before) => {
    const people = [honest, ...others].map(({ fromMs }, at) => ({
      fromMs: fromMs * 3,
      framesPerFlush: THREE_SECONDS + 3 * at,
    }));
    const now = figures(waitsOf(people, weights).flat());
    for (const [at, waitMs] of now.entries()) expect(waitMs).toBeLessThanOrEqual(before[at] ?? 0);
    expect(now[1]).toBeLessThanOrEqual(0.7 * before[1]);
  },
);
