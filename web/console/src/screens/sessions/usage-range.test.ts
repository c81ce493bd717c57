import { expect, test } from 'vitest';
import { daysIn, presetOf, PRESETS, rangeOf } from './usage-range.ts';

test.each([
  ['month', '2026-11-18', '2026-11-01', '2026-11-18', 18],
  ['lastMonth', '2026-11-18', '2026-10-01', '2026-10-31', 31],
  ['lastMonth', '2026-01-02', '2025-12-01', '2025-12-31', 31],
  ['lastMonth', '2028-03-31', '2028-02-01', '2028-02-29', 29],
  ['week', '2026-11-03', '2026-10-28', '2026-11-03', 7],
] as const)('%s on %s is %s to %s, %i days', (preset, today, from, to, days) => {
  expect(rangeOf(preset, today)).toEqual({ from, to });
  expect(daysIn({ from, to })).toBe(days);
});

test('every preset is recognised by its range, and no other range is one', () => {
  const today = '2026-11-18';
  for (const preset of PRESETS) expect(presetOf(rangeOf(preset, today), today)).toBe(preset);
  expect(presetOf({ from: '2026-11-02', to: today }, today)).toBeNull();
});
