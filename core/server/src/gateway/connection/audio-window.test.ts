import { expect, test } from 'vitest';
import { AudioWindow } from './audio-window.ts';

const WINDOW_MS = 10_000;

function played(input: { everyMs: number; audioMs: number; untilMs: number }): AudioWindow {
  const window = new AudioWindow(WINDOW_MS, 0);
  for (let atMs = 0; atMs <= input.untilMs; atMs += input.everyMs) {
    window.onAudio(input.audioMs, atMs);
  }
  return window;
}

test('a new stream counts as speaking, and as silent after a window without audio', () => {
  const window = new AudioWindow(WINDOW_MS, 0);
  expect(window.share(0)).toBe(1);
  expect(window.share(WINDOW_MS)).toBe(0);
});

test.each([
  ['20 ms frames in real time', 20, 20, 1],
  ['one sample every 5 s', 5_000, 0.0625, 0],
  ['half a second every 5 s', 5_000, 500, 0.1],
])('%s', (_, everyMs, audioMs, share) => {
  const window = played({ everyMs, audioMs, untilMs: 60_000 });
  expect(window.share(60_000)).toBeCloseTo(share, 1);
});

test('a pause shorter than a window is not silence, a longer one is', () => {
  const window = played({ everyMs: 20, audioMs: 20, untilMs: 20_000 });
  expect(window.share(20_000 + WINDOW_MS * 0.8)).toBeGreaterThan(0.1);
  expect(window.share(20_000 + WINDOW_MS * 2)).toBe(0);
});

test('a file that is sent at once counts for at least a window', () => {
  const window = new AudioWindow(WINDOW_MS, 0);
  window.onAudio(60_000, WINDOW_MS + 1);
  expect(window.share(2 * WINDOW_MS)).toBeGreaterThan(1);
});

test('without a window nothing is silent', () => {
  const window = new AudioWindow(Infinity, 0);
  expect(window.share(1e9)).toBe(1);
});
