import { LIMITS } from '@svc-asr/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isFlushTooSoon, recentFlushes, type FlushMoment } from './flush-rate.ts';

/** Returns how many of these flushes are throttled. */
function throttled(flushes: readonly FlushMoment[]): number {
  let recent: readonly FlushMoment[] = [];
  let refused = 0;
  for (const flush of flushes) {
    recent = recentFlushes(recent, flush);
    if (isFlushTooSoon(recent)) refused += 1;
    else recent = [...recent, flush];
  }
  return refused;
}

test('a client that flushes five times a second is never throttled, however its flushes bunch up', () => {
  const gap = fc.record({
    /** Between two flushes of the client, which sends audio in real time or faster. */
    sentMs: fc.integer({ min: 200, max: 3_000 }),
    speed: fc.integer({ min: 1, max: 50 }),
    /** Between their arrivals: anything from at once to much later. */
    arrivedMs: fc.integer({ min: 0, max: 5_000 }),
  });
  fc.assert(
    fc.property(fc.array(gap, { maxLength: 100 }), (gaps) => {
      let flush: FlushMoment = { atMs: 0, sample: 0 };
      const flushes = gaps.map(({ sentMs, speed, arrivedMs }) => {
        const sample = flush.sample + sentMs * speed * 16;
        return (flush = { atMs: flush.atMs + arrivedMs, sample });
      });
      expect(throttled(flushes)).toBe(0);
    }),
  );
});

test('without audio, five flushes pass in any second', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(400), { minLength: 1, maxLength: 100 }), (gapsMs) => {
      let atMs = 0;
      const flushes = gapsMs.map((gapMs) => ({ atMs: (atMs += gapMs), sample: 0 }));
      let recent: readonly FlushMoment[] = [];
      const passed: number[] = [];
      for (const flush of flushes) {
        recent = recentFlushes(recent, flush);
        if (isFlushTooSoon(recent)) continue;
        recent = [...recent, flush];
        passed.push(flush.atMs);
      }
      for (const from of passed) {
        const inSecond = passed.filter((at) => at >= from && at - from < 1_000);
        expect(inSecond.length).toBeLessThanOrEqual(LIMITS.flushesPerSecond);
      }
    }),
  );
});
