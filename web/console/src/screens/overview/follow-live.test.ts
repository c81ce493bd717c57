import type { ConsoleSession, Overview } from '@svc-asr/protocol/console/console.ts';
import { expect, test } from 'vitest';
import { follow } from './follow-live.ts';

function session(id: string, values: Partial<ConsoleSession> = {}): ConsoleSession {
  return {
    id,
    model: 'svc-asr-kikuyu-v1',
    status: 'active',
    outcome: 'active',
    reserved_ms: 60_000,
    audio_ms: 0,
    billable_ms: 0,
    created_at: '2026-11-17T10:00:00Z',
    expires_at: '2026-11-17T10:01:00Z',
    completed_at: null,
    ...values,
  };
}

const ended = session('ended', { status: 'completed', completed_at: '2026-11-17T09:00:00Z' });
const now = '2026-11-17T10:00:04Z';
const credit = { available_ms: 50, reserved_ms: 10, consumed_ms: 5 };
const overview: Overview = {
  ...credit,
  sessions: [session('a'), ended],
  days: [],
  concurrency_limit: 1,
  first_run: { key: true, call: true, words: true },
  now,
};

test('takes new figures of the live sessions and keeps the rest', () => {
  const heard = session('a', { audio_ms: 4_000 });
  const live = { ...credit, consumed_ms: 9, sessions: [heard], now: '2026-11-17T10:00:06Z' };
  expect(follow(overview, live)).toEqual({ ...overview, ...live, sessions: [heard, ended] });
});

test('asks for everything when a session began or ended', () => {
  expect(follow(overview, { ...credit, sessions: [], now })).toBeNull();
  expect(follow(overview, { ...credit, sessions: [session('b'), session('a')], now })).toBeNull();
});
