import { expect, test } from 'vitest';
import { en } from '../texts/en.ts';
import { sw } from '../texts/sw.ts';
import { formatAgo, formatAudio } from './format.ts';

test.each([
  [0, '0 s'],
  [1_240, '1.2 s'],
  [59_960, '60 s'],
  [61_000, '1 min 01 s'],
  [120_000, '2 min'],
  [3_600_000, '1 h'],
  [7_384_000, '2 h 3 min'],
])('formats %i ms of audio as "%s"', (ms, text) => {
  expect(formatAudio(ms, en)).toBe(text);
});

test('puts the unit before the number in Swahili', () => {
  expect(formatAudio(61_000, sw)).toBe('dak 1 sek 01');
});

test('computes relative times from the server clock', () => {
  const now = '2027-01-01T12:00:00Z';
  expect(formatAgo({ at: '2027-01-01T11:57:00Z', now, language: 'en' })).toBe('3 min. ago');
});
