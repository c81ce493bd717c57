import type { FinalEvent } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import { StreamRecord } from './stream-record.ts';

const ENDING = { status: 'completed', closeCode: 1000, reason: 'completed' } as const;

test('counts pauses of a second or more, and the longest one', () => {
  const record = new StreamRecord(0);
  for (const atMs of [5_000, 5_999, 6_999, 7_099, 9_599]) record.onAudio(atMs);
  expect(record.end(ENDING, 10_000)).toMatchObject({ gaps: 2, longestGapMs: 2_500 });
});

test('has percentiles of all delays of a short stream, and none without deltas', () => {
  const record = new StreamRecord(0);
  expect(record.end(ENDING, 0)).toMatchObject({ deltaLagP50Ms: null, deltaLagP95Ms: null });
  for (let lagMs = 100; lagMs >= 1; lagMs -= 1) record.lagged(lagMs);
  expect(record.end(ENDING, 0)).toMatchObject({ deltaLagP50Ms: 50, deltaLagP95Ms: 95 });
});

test('stays close to the percentiles of a stream with very many deltas', () => {
  const record = new StreamRecord(0);
  for (let at = 0; at < 100_000; at += 1) record.lagged(at % 1_000);
  const { deltaLagP50Ms, deltaLagP95Ms } = record.end(ENDING, 0);
  expect(Math.abs((deltaLagP50Ms ?? 0) - 500)).toBeLessThan(60);
  expect(Math.abs((deltaLagP95Ms ?? 0) - 950)).toBeLessThan(60);
});

test('keeps each hint once, and not without limit', () => {
  const record = new StreamRecord(0);
  const said = { type: 'status', message: 'words that must not be kept' } as const;
  record.sent({ ...said, code: 'suspicious_audio', hint: 'Send samples.' }, 1);
  record.sent({ ...said, code: 'suspicious_audio', hint: 'Another.' }, 2);
  const details = record.end(ENDING, 3);
  expect(details).toMatchObject({ hints: ['suspicious_audio'], audioHint: 'Send samples.' });
  expect(JSON.stringify(details)).not.toContain('words');
});

test('has its first words with a delta, or with a final that no delta came before', () => {
  const delta = {
    type: 'delta',
    text: 'mwega',
    utterance: 0,
    stable_chars: 0,
    audio_ms: 1,
  } as const;
  const record = new StreamRecord(0);
  record.sent(final(''), 100);
  expect(record.end(ENDING, 150).firstWordsMs).toBeNull();
  record.sent(delta, 200);
  record.sent(final('mwega'), 300);
  expect(record.end(ENDING, 400).firstWordsMs).toBe(200);
  const atOnce = new StreamRecord(0);
  atOnce.sent(final('mwega'), 300);
  expect(atOnce.end(ENDING, 400).firstWordsMs).toBe(300);
});

function final(text: string): FinalEvent {
  const times = { start_ms: 0, end_ms: 1, audio_ms: 1, total_audio_ms: 1, billable_ms: 1_000 };
  return { type: 'final', text, utterance: 0, reason: 'flush', words: [], ...times };
}
