import { expect, test } from 'vitest';
import { en } from '../texts/en.ts';
import { sw } from '../texts/sw.ts';
import {
  formatAgo,
  formatAudio,
  formatDateTime,
  formatExact,
  formatFigure,
  formatWait,
} from './format.ts';

test.each([
  [0, '0 s'],
  [1_240, '1.2 s'],
  [59_940, '59.9 s'],
  [59_960, '1 min'],
  [61_000, '1 min 01 s'],
  [120_000, '2 min'],
  [3_600_000, '1 h'],
  [7_384_000, '2 h 03 min 04 s'],
  [3_605_000, '1 h 05 s'],
])('formats %i ms of audio as "%s"', (ms, text) => {
  expect(formatAudio(ms, en)).toBe(text);
});

test.each([
  [0, '0 s'],
  [1_001, '1.001 s'],
  [1_500, '1.5 s'],
  [59_960, '59.96 s'],
  [60_000, '1 min'],
  [60_001, '1 min 00.001 s'],
  [65_200, '1 min 05.2 s'],
  [3_612_345, '1 h 12.345 s'],
])('formats %i ms of a receipt as "%s"', (ms, text) => {
  expect(formatExact(ms, en)).toBe(text);
});

test('writes dates with the day first and 24 hours in both languages', () => {
  const noon = new Date(2027, 0, 31, 15, 4).toISOString();
  expect(formatDateTime(noon, 'en')).toMatch(/^31 Jan 2027, 15:04 (UTC|GMT)/);
  expect(formatDateTime(noon, 'sw')).toMatch(/^31 Jan 2027, 15:04 (UTC|GMT)/);
});

test('puts the unit before the number in Swahili', () => {
  expect(formatAudio(61_000, sw)).toBe('dak 1 sek 01');
});

test.each([
  [en, '2\u00a0h 03\u00a0min 04\u00a0s'],
  [sw, 'saa\u00a02 dak\u00a003 sek\u00a004'],
])('keeps each number of a figure with its unit', (texts, figure) => {
  expect(formatFigure(7_384_000, texts)).toBe(figure);
});

test('computes relative times from the server clock', () => {
  const now = '2027-01-01T12:00:00Z';
  expect(formatAgo({ at: '2027-01-01T11:57:00Z', now, language: 'en' })).toBe('3 min ago');
});

test.each([
  [3_600_000, '1 h'],
  [41_200, '42 s'],
  [200_000, '4 min'],
])('rounds a wait of %i ms up to "%s"', (ms, text) => {
  expect(formatWait(ms, en)).toBe(text);
});
