import type { Clock } from '../src/clock.ts';

/** Time stands still, so that a slow machine earns no more requests than a fast one. */
export const heldClock: Clock = { monotonicMs: () => 1_000_000 };
