import { expect, test } from 'vitest';
import { LatencyMeter } from './latency.ts';
import { follow, IDLE, isUncertain, type Run, type RunEvent } from './run.ts';

const delta = (text: string, audio_ms: number): RunEvent => ({
  type: 'delta',
  delta: { type: 'delta', text, utterance: 0, stable_chars: 3, audio_ms },
  audioMs: audio_ms,
  latencyMs: 90,
});
const final = (text: string, total_audio_ms: number): RunEvent => ({
  type: 'final',
  final: {
    type: 'final',
    text,
    utterance: 0,
    reason: 'flush',
    start_ms: 0,
    end_ms: total_audio_ms,
    words: text
      .split(' ')
      .map((word, at) => ({ text: word, start_ms: at, end_ms: at + 1, confidence: 0.9 - at / 2 })),
    audio_ms: total_audio_ms,
    total_audio_ms,
    billable_ms: Math.ceil(total_audio_ms / 1_000) * 1_000,
  },
});
const after = (...events: RunEvent[]): Run => events.reduce(follow, IDLE);

test('replaces each delta with the next; a final completes the utterance and updates the charge', () => {
  const run = after(
    { type: 'started' },
    { type: 'ready' },
    delta('nĩ we', 1_120),
    delta('nĩ wega', 2_240),
    final('nĩ wega', 2_400),
  );
  expect(run).toMatchObject({ phase: 'listening', text: '', audioMs: 2_400 });
  expect(run.turns.map((turn) => turn.map(({ text }) => text))).toEqual([['nĩ', 'wega']]);
  expect(run.billableMs).toBe(3_000);
});

test('keeps one line per turn and skips turns without words', () => {
  const run = after(
    { type: 'started' },
    final('nĩ wega', 2_400),
    final('', 3_000),
    final('mũno', 5_000),
  );
  expect(run.turns.map((turn) => turn.map(isUncertain))).toEqual([[false, true], [false]]);
});

test('returns unused credit when the run ends', () => {
  const reserved: RunEvent = { type: 'reserved', remainingMs: 3_540_000, reservedMs: 60_000 };
  const run = after({ type: 'started' }, reserved, { type: 'ready' }, final('nĩ wega', 2_400), {
    type: 'finished',
  });
  expect(run).toMatchObject({ phase: 'done', remainingMs: 3_597_000 });
});

test('keeps the error and the recognised text after a failure', () => {
  const failed: RunEvent = { type: 'failed', code: 'internal_error', message: 'x' };
  const run = after(
    { type: 'started' },
    { type: 'ready' },
    delta('nĩ we', 1_120),
    failed,
    {
      type: 'stopping',
    },
    { type: 'finished' },
  );
  expect(run).toMatchObject({
    phase: 'failed',
    text: 'nĩ we',
    problem: { code: 'internal_error' },
  });
});

test('starts each run with empty state', () => {
  const run = after(
    { type: 'started' },
    delta('x', 1_000),
    { type: 'finished' },
    { type: 'started' },
  );
  expect(run).toEqual({ ...IDLE, phase: 'connecting' });
});

test('measures latency from the last audio that the text covers', () => {
  const meter = new LatencyMeter();
  for (let at = 0; at < 20; at += 1) meter.onSent(1_600, at * 100);
  expect(meter.onText(1_120, 1_200)).toBe(200);
  expect(meter.onText(2_000, 2_050)).toBe(150);
  expect(new LatencyMeter().onText(1_000, 5)).toBeNull();
});
