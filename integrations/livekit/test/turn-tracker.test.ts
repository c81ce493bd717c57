import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TurnTracker } from '../src/turn-tracker.ts';

const FINAL_WAIT_MS = 1_000;

let told: (string | number | null)[] = [];
let turns: TurnTracker;
beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  turns = new TurnTracker({
    onStart: () => told.push('start'),
    onEnd: (speechEndMs) => told.push('end', speechEndMs),
  });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a turn starts with speech and ends after its final', () => {
  turns.onSpeechStarted();
  expect(told).toEqual(['start']);
  turns.onSpeechEnded(2_400);
  expect(told).toEqual(['start']);
  turns.onTurnFinal();
  expect(told).toEqual(['start', 'end', 2_400]);
});

test('a turn in which nothing was recognised ends a second after its speech', () => {
  turns.onSpeechStarted();
  turns.onSpeechEnded(300);
  vi.advanceTimersByTime(FINAL_WAIT_MS - 1);
  expect(told).toEqual(['start']);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(['start', 'end', 300]);
  expect(vi.getTimerCount()).toBe(0);
  // A final that arrives later belongs to no turn.
  turns.onTurnFinal();
  expect(told).toHaveLength(3);
});

test('the final of a flush may take longer than a second, also after a lost session', () => {
  turns.onSpeechStarted();
  turns.onSpeechEnded(1_000);
  turns.onFlush();
  vi.advanceTimersByTime(10 * FINAL_WAIT_MS);
  turns.onDisconnected();
  turns.onReady();
  vi.advanceTimersByTime(10 * FINAL_WAIT_MS);
  expect(told).toEqual(['start']);
  turns.onText();
  turns.onFlushFinal();
  expect(told).toEqual(['start', 'end', 1_000]);
});

test('speech that resumes before the final belongs to the same turn', () => {
  turns.onSpeechStarted();
  turns.onSpeechEnded(1_000);
  vi.advanceTimersByTime(FINAL_WAIT_MS - 1);
  turns.onSpeechStarted();
  vi.advanceTimersByTime(10 * FINAL_WAIT_MS);
  // The final of the first half, at the audio limit of its session.
  turns.onTurnFinal();
  expect(told).toEqual(['start']);
  turns.onSpeechEnded(9_000);
  turns.onTurnFinal();
  expect(told).toEqual(['start', 'end', 9_000]);
});

test('text without speech events is a turn of its own, without the end of speech', () => {
  turns.onText();
  expect(told).toEqual(['start']);
  turns.onTurnFinal();
  expect(told).toEqual(['start', 'end', null]);
});

test('text without speech events and without the final of a turn ends after a second', () => {
  turns.onText();
  vi.advanceTimersByTime(FINAL_WAIT_MS);
  expect(told).toEqual(['start', 'end', null]);
});

test('text inside a turn starts no other', () => {
  turns.onSpeechStarted();
  turns.onText();
  turns.onSpeechEnded(800);
  turns.onText();
  turns.onTurnFinal();
  expect(told).toEqual(['start', 'end', 800]);
});

test('while there is no session a turn waits, and for a whole second after the next one is ready', () => {
  turns.onSpeechStarted();
  turns.onSpeechEnded(700);
  vi.advanceTimersByTime(FINAL_WAIT_MS - 1);
  turns.onDisconnected();
  vi.advanceTimersByTime(60 * FINAL_WAIT_MS);
  expect(told).toEqual(['start']);
  turns.onReady();
  vi.advanceTimersByTime(FINAL_WAIT_MS - 1);
  expect(told).toEqual(['start']);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(['start', 'end', 700]);
});

test('a session that gets ready during speech or silence ends nothing', () => {
  turns.onReady();
  turns.onSpeechStarted();
  turns.onReady();
  vi.advanceTimersByTime(10 * FINAL_WAIT_MS);
  expect(told).toEqual(['start']);
  turns.end();
  expect(told).toEqual(['start', 'end', null]);
});

test('ends without a turn are ignored', () => {
  turns.onSpeechEnded(100);
  turns.onTurnFinal();
  turns.end();
  expect(told).toEqual([]);
});

test('the end of one turn is not reported for the next', () => {
  turns.onSpeechStarted();
  turns.onSpeechEnded(500);
  turns.onTurnFinal();
  turns.onSpeechStarted();
  turns.end();
  expect(told).toEqual(['start', 'end', 500, 'start', 'end', null]);
});
