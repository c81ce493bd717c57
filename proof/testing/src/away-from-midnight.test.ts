import { expect, test } from 'vitest';
import { isNearMidnight } from './away-from-midnight.ts';

test.each([
  ['2026-03-10T23:58:59Z', false],
  ['2026-03-10T23:59:00Z', true],
  ['2026-03-11T00:01:59Z', true],
  ['2026-03-11T00:02:00Z', false],
  // Midnight in Nairobi.
  ['2026-03-10T20:59:00Z', true],
  ['2026-03-10T21:02:00Z', false],
  ['2026-03-10T12:00:00Z', false],
])('%s is near midnight: %s', (now, isNear) => {
  expect(isNearMidnight(Date.parse(now))).toBe(isNear);
});
