import { expect, test } from 'vitest';
import { axisTop, daysLeft, fillDays } from './days.ts';

const NOW = '2027-03-02T10:00:00.000Z';

test('includes days without usage, across the end of a month, with today last', () => {
  const model = 'svc-asr-kikuyu-v1' as const;
  const days = [{ date: '2027-02-28', model, billable_ms: 4_000, sessions: 2 }];
  const filled = fillDays({ days, now: NOW, count: 4 });
  expect(filled.map(({ date, totalMs }) => [date, totalMs])).toEqual([
    ['2027-02-27', 0],
    ['2027-02-28', 4_000],
    ['2027-03-01', 0],
    ['2027-03-02', 0],
  ]);
});

test('says how long the credit lasts at the pace of these days', () => {
  const model = 'svc-asr-kikuyu-v1' as const;
  const days = [{ date: '2027-02-28', model, billable_ms: 60_000, sessions: 2 }];
  expect(daysLeft(600_000, fillDays({ days, now: NOW, count: 30 }))).toBe(300);
  expect(daysLeft(600_000, fillDays({ days: [], now: NOW, count: 30 }))).toBeNull();
});

test('ends the axis at a round value that no bar exceeds', () => {
  expect(axisTop(0)).toBe(10_000);
  expect(axisTop(61_000)).toBe(120_000);
  expect(axisTop(200_000_000)).toBeGreaterThanOrEqual(200_000_000);
});
