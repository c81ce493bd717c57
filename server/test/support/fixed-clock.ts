import type { Clock } from '../../src/platform/clock.ts';

/** A stopped clock, so that a slow machine gets no more requests refilled than a fast one. */
export const heldClock: Clock = { monotonicMs: () => 1_000_000 };
