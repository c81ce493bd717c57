import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRateLimiter } from './rate-limit.ts';

function clockAt(start: number) {
  let now = start;
  return { monotonicMs: () => now, advance: (ms: number) => (now += ms) };
}

test('allows a burst at once, then one request at each reset time', () => {
  const clock = clockAt(5_000);
  const limiter = createRateLimiter({ perMinute: 30, burst: 10 }, clock);
  for (let left = 9; left >= 0; left -= 1) {
    expect(limiter.take('a')).toMatchObject({ allowed: true, remaining: left });
  }
  expect(limiter.take('a')).toEqual({ allowed: false, remaining: 0, resetSeconds: 2 });
  clock.advance(2_000);
  expect(limiter.take('a')).toMatchObject({ allowed: true, remaining: 0 });
  expect(limiter.take('a').allowed).toBe(false);
});

test('counts each key separately', () => {
  const limiter = createRateLimiter({ perMinute: 1, burst: 1 }, clockAt(0));
  expect(limiter.take('a').allowed).toBe(true);
  expect(limiter.take('a').allowed).toBe(false);
  expect(limiter.take('b').allowed).toBe(true);
});

test('never allows more than the burst plus the refill of the interval, and Retry-After is always right', () => {
  fc.assert(
    fc.property(
      fc.record({
        perMinute: fc.integer({ min: 1, max: 600 }),
        burst: fc.integer({ min: 1, max: 50 }),
      }),
      fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200 }),
      (policy, waits) => {
        const clock = clockAt(0);
        const limiter = createRateLimiter(policy, clock);
        let passed = 0;
        for (const wait of waits) {
          clock.advance(wait);
          const first = limiter.take('a');
          clock.advance(first.allowed ? 0 : first.resetSeconds * 1_000);
          const inTheEnd = first.allowed ? first : limiter.take('a');
          expect(inTheEnd.allowed).toBe(true);
          passed += 1;
          const earned = (clock.monotonicMs() / 60_000) * policy.perMinute;
          expect(passed).toBeLessThanOrEqual(policy.burst + earned + 1e-3);
        }
      },
    ),
  );
});
