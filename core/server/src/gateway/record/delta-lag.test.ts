import { expect, test } from 'vitest';
import { DeltaLag } from './delta-lag.ts';

const FRAME = 1_600;
const FRAME_MS = 100;
const START_MS = 50_000;

/** Sends frames of 100 ms, one every `everyMs`, and returns when the last one arrived. */
function send(lag: DeltaLag, input: { frames: number; everyMs: number }): number {
  let nowMs = START_MS;
  for (let at = 0; at < input.frames; at += 1) {
    nowMs = START_MS + at * input.everyMs;
    lag.onAudio(FRAME, nowMs);
  }
  return nowMs;
}

test('measures from the arrival of the last covered audio to the delta', () => {
  const lag = new DeltaLag();
  const nowMs = send(lag, { frames: 12, everyMs: FRAME_MS });
  expect(lag.onDelta({ utterance: 0, samples: 10 * FRAME }, nowMs + 40)).toBe(240);
});

test('measures only deltas that cover new audio', () => {
  const lag = new DeltaLag();
  const nowMs = send(lag, { frames: 12, everyMs: FRAME_MS });
  lag.onDelta({ utterance: 0, samples: 12 * FRAME }, nowMs + 10);
  expect(lag.onDelta({ utterance: 0, samples: 12 * FRAME }, nowMs + 500)).toBeNull();
});

test('does not count the backlog of a client that sends faster than real time', () => {
  const lag = new DeltaLag();
  const nowMs = send(lag, { frames: 100, everyMs: 1 });
  expect(lag.onDelta({ utterance: 0, samples: 100 * FRAME }, nowMs + 3_000)).toBe(0);
});

test('does not measure audio that a reset dropped', () => {
  const lag = new DeltaLag();
  const nowMs = send(lag, { frames: 12, everyMs: FRAME_MS });
  lag.nextUtterance();
  lag.onAudio(FRAME, nowMs + 1_000);
  expect(lag.onDelta({ utterance: 1, samples: FRAME }, nowMs + 1_200)).toBe(200);
});
