import { expect, test } from 'vitest';
import { NORMAL_CLOSE_REASONS, STREAM_ERRORS } from '../events.ts';
import { SESSION_STATUSES } from '../usage.ts';
import { causeOf, OUTCOME_FILTERS, OUTCOMES, outcomeOf, outcomesOf } from './outcome.ts';

const OURS = new Set(['internal_error', 'service_restart', 'initialization_timeout']);
const FATAL = Object.entries(STREAM_ERRORS).flatMap(([code, error]) =>
  'close' in error ? [{ code, close: error.close }] : [],
);

test.each(FATAL)('$code is an error of the client or a failure of ours', ({ code, close }) => {
  const isOurs = OURS.has(code);
  const status = isOurs ? 'failed' : 'completed';
  const ended = { status, close_code: close, close_reason: code, isOpened: true } as const;
  expect(outcomeOf(ended)).toBe(isOurs ? 'failed' : 'error');
  expect(causeOf(ended)).toBe(code);
});

test.each(NORMAL_CLOSE_REASONS)('%s is a normal end', (close_reason) => {
  const ended = { status: 'completed', close_code: 1_000, close_reason, isOpened: true } as const;
  expect(outcomeOf(ended)).toBe('completed');
  expect(causeOf(ended)).toBeNull();
});

test('without details of the stream, the outcome is the status', () => {
  for (const status of SESSION_STATUSES) {
    expect(outcomeOf({ status, close_code: null })).toBe(status);
  }
});

test('a failed session without a report lost its node', () => {
  const lost = { status: 'failed', close_code: null, close_reason: null } as const;
  expect(causeOf({ ...lost, isOpened: true })).toBe('node_lost');
  expect(causeOf({ ...lost, isOpened: false })).toBe('node_lost_before_start');
});

test('every outcome can be filtered for, and "problem" finds both failures', () => {
  for (const outcome of OUTCOMES) expect(outcomesOf(outcome)).toEqual([outcome]);
  expect(outcomesOf('problem')).toEqual(['error', 'failed']);
  expect(OUTCOME_FILTERS).toHaveLength(OUTCOMES.length + 1);
});
