import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readInputRate } from './audio-input-rate.ts';

const STREAM = '  Stream #0:0: Audio: mp3 (mp3float), 16000 Hz, mono, fltp, 32 kb/s\n';

function rateOf(...chunks: readonly string[]): Promise<number> {
  const stderr = new PassThrough();
  const rate = readInputRate(stderr);
  for (const chunk of chunks) stderr.write(chunk);
  stderr.end();
  return rate;
}

test('reads the rate of the input, in pieces of any size', async () => {
  const report = `Input #0, mp3, from 'pipe:0':\n${STREAM}Output #0, s16le, to 'pipe:1':\n`;
  expect(await rateOf(report)).toBe(16_000);
  expect(await rateOf(...report.split(''))).toBe(16_000);
});

test('takes the lowest rate of all, so that a title can only lower it', async () => {
  const title = '    title           : x : Audio: y, 48000 Hz, z, 100 Hz\n';
  expect(await rateOf(title, STREAM, '\nOutput #0')).toBe(100);
});

test('returns 0 without a rate, and for a report that never ends', async () => {
  expect(await rateOf('Input #0\n', '\nOutput #0')).toBe(0);
  expect(await rateOf('x'.repeat(70_000), STREAM)).toBe(0);
});

test('reads a title of marks once, however much ffmpeg writes afterwards', async () => {
  const marks = ': Audio: '.repeat(7_500);
  const complaints = Array.from({ length: 5_000 }, () => '[mp3float] Header missing\n');
  expect(await rateOf(marks, STREAM, ...complaints)).toBe(0);
});
