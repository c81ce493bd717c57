import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { TimeLeft } from '../src/bulk/time-left.ts';

/** The service transcribes this many times faster than speech, in bursts. */
const run = fc.record({
  pace: fc.double({ min: 2, max: 50, noNaN: true }),
  burstMs: fc.integer({ min: 100, max: 2_000 }),
  totalS: fc.integer({ min: 600, max: 36_000 }),
});

test('the time left counts down without jumps, although audio is sent in bursts', () => {
  fc.assert(
    fc.property(run, ({ pace, burstMs, totalS }) => {
      const estimates = new TimeLeft(0);
      const totalMs = totalS * 1_000;
      const jumps: number[] = [];
      let shown: number | null = null;
      for (let nowMs = 0; nowMs < Math.min(60_000, totalMs / pace); nowMs += 100) {
        const doneMs = Math.min(totalMs, Math.floor(nowMs / burstMs) * burstMs * pace);
        const leftMs = estimates.estimate(nowMs, { doneMs, restMs: totalMs - doneMs });
        // A second of a clock that counts down, or two percent of a long time.
        const allowedMs = 1_000 + (shown ?? 0) * 0.02;
        const jumpMs = Math.abs((leftMs ?? 0) - (shown ?? leftMs ?? 0));
        if (jumpMs > allowedMs) jumps.push(jumpMs);
        shown = leftMs;
      }
      expect(jumps).toEqual([]);
    }),
  );
});

test('says nothing in the first three seconds, and follows a slower pace gradually', () => {
  const estimates = new TimeLeft(0);
  expect(estimates.estimate(2_000, { doneMs: 20_000, restMs: 80_000 })).toBeNull();
  expect(estimates.estimate(10_000, { doneMs: 50_000, restMs: 50_000 })).toBe(10_000);
  const later = estimates.estimate(11_000, { doneMs: 50_000, restMs: 50_000 });
  expect(later).toBeGreaterThan(9_000);
  expect(later).toBeLessThan(10_000);
});
