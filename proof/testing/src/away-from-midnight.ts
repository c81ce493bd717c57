import { eventually } from './eventually.ts';

const DAY_MS = 86_400_000;
/** What the longest test takes that counts days. */
const BEFORE_MS = 60_000;
/** The status page counts a minute when the next one is over. */
const AFTER_MS = 120_000;
/** UTC, and Nairobi. */
const OFFSETS_MS = [0, 3 * 3_600_000];

/** For tests that count days: if one is about to begin, or has just begun, waits until it is some minutes old. */
export async function awayFromMidnight(): Promise<void> {
  await eventually(() => !isNearMidnight(Date.now()), BEFORE_MS + AFTER_MS + 1_000);
}

export function isNearMidnight(nowMs: number): boolean {
  return OFFSETS_MS.some((offsetMs) => {
    const ofDayMs = (nowMs + offsetMs) % DAY_MS;
    return ofDayMs < AFTER_MS || ofDayMs >= DAY_MS - BEFORE_MS;
  });
}
