import { expect, test, vi } from 'vitest';
import { describeDay, startOfDay } from './filter-day.ts';

test.each([
  ['Africa/Nairobi', '2027-01-31T00:00:00+03:00'],
  ['America/St_Johns', '2027-01-31T00:00:00-03:30'],
  ['UTC', '2027-01-31'],
])('a day begins at midnight in %s', (zone, begins) => {
  vi.stubEnv('TZ', zone);
  expect(startOfDay('2027-01-31')).toBe(begins);
  vi.unstubAllEnvs();
});

test('a day that somebody in another zone chose keeps its zone', () => {
  vi.stubEnv('TZ', 'UTC');
  expect(describeDay('2027-01-31T00:00:00+03:00', 'en')).toEqual({
    day: '31 Jan 2027',
    zone: '+03:00',
  });
  expect(describeDay('2027-01-31', 'en')).toEqual({ day: '31 Jan 2027', zone: 'UTC' });
  vi.unstubAllEnvs();
});
