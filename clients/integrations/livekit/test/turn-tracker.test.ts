import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TurnTracker } from '../src/turn-tracker.ts';

const FINAL_WAIT_MS = 1_000;

let told: (string | number | null)[] = [];
let turns: TurnTracker;
beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  turns = new TurnTracker(
    {
      onStart: () => told.push('start'),
      onEnd: (speechEndMs) => told.push('end', speechEndMs),
      onFinalLate: () => told.push('late'),
    },
    { silenceMs: 500 },
  );
});
afterEach(() => {
  vi.useRealTimers();
});

test('a turn starts with speech and ends after its final', () => {
  turns.onSpeechStarted(0);
  expect(told).toEqual(['start']);
  turns.onSpeechEnded(2_400);
  expect(told).toEqual(['start']);
  turns.onTurnFinal(2_900);
  expect(told).toEqual(['start', 'end', 2_400]);
});

test('a final that is late by a second is asked for, and ends the turn however late it is', () => {
  turns.onSpeechStarted(0);
  turns.onSpeechEnded(300);
  vi.advanceTimersByTime(FINAL_WAIT_MS - 1);
  expect(told).toEqual(['start']);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(['start', 'late']);
  turns.onFlush();
  vi.advanceTimersByTime(60 * FINAL_WAIT_MS);
  expect(told).toEqual(['start', 'late']);
  turns.onFlushFinal(800);
  expect(told).toEqual(['start', 'late', 'end', 300]);
  expect(vi.getTimerCount()).toBe(0);
});

test('the flush of one turn does not end the next', () => {
  turns.onSpeechStarted(0);
  turns.onSpeechEnded(300);
  turns.onFlush();
  turns.onTurnFinal(700);
  turns.onFlush();
  turns.onSpeechStarted(800);
  turns.onSpeechEnded(2_000);
  turns.onFlushFinal(700);
  turns.onFlushFinal(800);
  expect(told).toEqual(['start', 'end', 300, 'start']);
  // From then on the final is asked for as always.
  vi.advanceTimersByTime(FINAL_WAIT_MS);
  expect(told).toEqual(['start', 'end', 300, 'start', 'late']);
  turns.onFlush();
  turns.onFlushFinal(2_500);
  expect(told).toEqual(['start', 'end', 300, 'start', 'late', 'end', 2_000]);
});

test('a flush before the service reports the speech ends the turn with its final', () => {
  turns.onFlush();
  turns.onSpeechStarted(100);
  turns.onSpeechEnded(2_000);
  vi.advanceTimersByTime(60 * FINAL_WAIT_MS);
  turns.onFlushFinal(2_500);
  expect(told).toEqual(['start', 'end', 2_000]);
});

test('a turn that goes on in the next stream, whose time starts again, ends with its flush', () => {
  turns.onSpeechStarted(60_000);
  turns.onStreamEnded();
  turns.onSpeechEnded(500);
  turns.onFlush();
  turns.onFlushFinal(1_000);
  expect(told).toEqual(['start', 'end', 500]);
});

test('a flush that is answered during resumed speech ends no turn', () => {
  turns.onSpeechStarted(0);
  turns.onSpeechEnded(300);
  turns.onFlush();
  turns.onSpeechStarted(600);
  turns.onFlushFinal(550);
  turns.onSpeechEnded(2_000);
  expect(told).toEqual(['start']);
  vi.advanceTimersByTime(FINAL_WAIT_MS);
  expect(told).toEqual(['start', 'late']);
});

test('speech after the silence that ends a turn is the next turn, even before the final of the first', () => {
  turns.onSpeechStarted(0);
  turns.onSpeechEnded(2_000);
  turns.onSpeechStarted(2_500);
  expect(told).toEqual(['start']);
  turns.onTurnFinal(2_500);
  expect(told).toEqual(['start', 'end', 2_000, 'start']);
  turns.onSpeechEnded(4_000);
  turns.onTurnFinal(4_500);
  expect(told).toEqual(['start', 'end', 2_000, 'start', 'end', 4_000]);
});

test('turns that are replayed at once after an outage stay separate', () => {
  for (const startMs of [0, 3_000, 6_000]) {
    turns.onSpeechStarted(startMs);
    turns.onSpeechEnded(startMs + 2_000);
  }
  for (const endMs of [2_500, 5_500, 8_500]) {
    turns.onInterim();
    turns.onText();
    turns.onTurnFinal(endMs);
  }
  const ends = [2_000, 5_000, 8_000];
  expect(told).toEqual(ends.flatMap((endMs) => ['start', 'end', endMs]));
  expect(vi.getTimerCount()).toBe(0);
});

test('turns that share a final are one turn', () => {
  turns.onSpeechStarted(0);
  turns.onSpeechEnded(200);
  turns.onSpeechStarted(900);
  turns.onSpeechEnded(2_000);
  turns.onTurnFinal(2_500);
  expect(told).toEqual(['start', 'end', 2_000]);
});

test('interim text never comes before the start of its turn', () => {
  turns.onInterim();
  expect(told).toEqual(['start']);
  turns.onSpeechStarted(100);
  turns.onSpeechEnded(900);
  turns.onText();
  turns.onSpeechStarted(2_000);
  // The final came for another reason than the end of the turn, such as a full session.
  turns.onInterim();
  expect(told).toEqual(['start', 'end', 900, 'start']);
});

test('the flushes of a stream that ended are not waited for', () => {
  turns.onSpeechStarted(0);
  turns.onSpeechEnded(300);
  turns.onFlush();
  turns.onStreamEnded();
  vi.advanceTimersByTime(60 * FINAL_WAIT_MS);
  expect(told).toEqual(['start']);
  turns.onReady();
  vi.advanceTimersByTime(FINAL_WAIT_MS);
  expect(told).toEqual(['start', 'late']);
});

test('the final of a flush may take longer than a second, also after a lost session', () => {
  turns.onSpeechStarted(0);
  turns.onSpeechEnded(1_000);
  turns.onFlush();
  vi.advanceTimersByTime(10 * FINAL_WAIT_MS);
  turns.onDisconnected();
  turns.onReady();
  vi.advanceTimersByTime(10 * FINAL_WAIT_MS);
  expect(told).toEqual(['start']);
  turns.onText();
  turns.onFlushFinal(1_500);
  expect(told).toEqual(['start', 'end', 1_000]);
});

test('speech that resumes before the final belongs to the same turn', () => {
  turns.onSpeechStarted(0);
  turns.onSpeechEnded(1_000);
  vi.advanceTimersByTime(FINAL_WAIT_MS - 1);
  turns.onSpeechStarted(0);
  vi.advanceTimersByTime(10 * FINAL_WAIT_MS);
  // The final of the first half, at the audio limit of its session.
  turns.onTurnFinal(1_000);
  expect(told).toEqual(['start']);
  turns.onSpeechEnded(9_000);
  turns.onTurnFinal(9_500);
  expect(told).toEqual(['start', 'end', 9_000]);
});

test('text without speech events is a turn of its own, without the end of speech', () => {
  turns.onText();
  expect(told).toEqual(['start']);
  turns.onTurnFinal(500);
  expect(told).toEqual(['start', 'end', null]);
});

test('the final of a turn is also asked for after text without speech events', () => {
  turns.onText();
  vi.advanceTimersByTime(FINAL_WAIT_MS);
  expect(told).toEqual(['start', 'late']);
});

test('text inside a turn starts no other', () => {
  turns.onSpeechStarted(0);
  turns.onText();
  turns.onSpeechEnded(800);
  turns.onText();
  turns.onTurnFinal(1_300);
  expect(told).toEqual(['start', 'end', 800]);
});

test('while there is no session a turn waits, and for a whole second after the next one is ready', () => {
  turns.onSpeechStarted(0);
  turns.onSpeechEnded(700);
  vi.advanceTimersByTime(FINAL_WAIT_MS - 1);
  turns.onDisconnected();
  vi.advanceTimersByTime(60 * FINAL_WAIT_MS);
  expect(told).toEqual(['start']);
  turns.onReady();
  vi.advanceTimersByTime(FINAL_WAIT_MS - 1);
  expect(told).toEqual(['start']);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(['start', 'late']);
});

test('a session that gets ready during speech or silence ends nothing', () => {
  turns.onReady();
  turns.onSpeechStarted(0);
  turns.onReady();
  vi.advanceTimersByTime(10 * FINAL_WAIT_MS);
  expect(told).toEqual(['start']);
  turns.end();
  expect(told).toEqual(['start', 'end', null]);
});

test('ends without a turn are ignored', () => {
  turns.onSpeechEnded(100);
  turns.onTurnFinal(600);
  turns.end();
  expect(told).toEqual([]);
});

test('the end of one turn is not reported for the next', () => {
  turns.onSpeechStarted(0);
  turns.onSpeechEnded(500);
  turns.onTurnFinal(1_000);
  turns.onSpeechStarted(0);
  turns.end();
  expect(told).toEqual(['start', 'end', 500, 'start', 'end', null]);
});
