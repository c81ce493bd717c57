import type { Clock } from '../../src/platform/clock.ts';

/** A stopped clock, so that rate limits don't refill during a slow test. */
export const heldClock: Clock = { monotonicMs: () => 1_000_000 };
