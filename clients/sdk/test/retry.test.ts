import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorFromResponse, type SvcError } from '../src/errors.ts';
import { backoffMs, retryWaitMs } from '../src/retry.ts';
import { describeClose, isNodeLost } from '../src/stream/close-info.ts';
import { Failover } from '../src/stream/failover.ts';

const LIMITS = { retriesMax: 6, waitMsMax: 90_000 };
const chance = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

function refusal(status: number, code: string, retryAfter: string | null = null): SvcError {
  const body = { error: { type: 'a_type', code, message: 'A sentence.', request_id: 'an id' } };
  return errorFromResponse({ status, body, requestId: null, retryAfter });
}

test('waits at least Retry-After and at most the limit', () => {
  fc.assert(
    fc.property(fc.nat(120), fc.integer({ min: 1, max: 9 }), chance, (seconds, failures, luck) => {
      const error = refusal(503, 'capacity_exceeded', String(seconds));
      const wait = retryWaitMs(error, { failures, waitedMs: 0 }, LIMITS, () => luck);
      const isOver = failures > LIMITS.retriesMax || seconds * 1000 > LIMITS.waitMsMax;
      const isPaced = wait !== null && wait >= seconds * 1000 && wait <= LIMITS.waitMsMax;
      // Just under the limit the jitter may exceed it, which ends the retries.
      expect(isOver ? wait === null : isPaced || (wait === null && seconds > 80)).toBe(true);
    }),
  );
});

test('backoff doubles up to ten seconds, and half of it is random', () => {
  expect([0, 1, 2, 10].map((attempt) => backoffMs(attempt, () => 0))).toEqual([
    125, 250, 500, 5_000,
  ]);
  expect([0, 1, 2, 10].map((attempt) => backoffMs(attempt, () => 1))).toEqual([
    250, 500, 1_000, 10_000,
  ]);
});

test('retries once early after concurrency_limit_exceeded, because the blocker may be the session just closed', () => {
  const error = refusal(429, 'concurrency_limit_exceeded', '5');
  const first = { failures: 1, waitedMs: 0, hasJustClosed: true };
  expect(retryWaitMs(error, first, LIMITS, () => 1)).toBeLessThanOrEqual(250);
  expect(retryWaitMs(error, { failures: 2, waitedMs: 0 }, LIMITS, () => 0)).toBe(5_000);
});

test.each([400, 401, 402, 403, 404, 409, 413, 415])('%i is never retried', (status) => {
  const error = refusal(status, 'a_code');
  expect(error.retryable).toBe(false);
  expect(retryWaitMs(error, { failures: 1, waitedMs: 0 }, LIMITS, () => 0)).toBeNull();
});

test('keeps the status of a response without an error body', () => {
  const error = errorFromResponse({ status: 502, body: null, requestId: null, retryAfter: 'soon' });
  expect(error).toMatchObject({
    code: 'http_502',
    status: 502,
    retryable: true,
    retryAfterMs: null,
  });
});

function end(code: number, reason = '') {
  return { code, reason, refusal: null };
}

describe('describeClose', () => {
  const known = {
    sessionId: 's',
    url: 'wss://asr.example.org/v1/asr/stream',
    opened: true,
    fatal: null,
  };

  test.each([1001, 1006, 1011, 1012, 1013, 4429, 4503])('%i is retryable', (code) => {
    expect(describeClose(end(code), known).retryable).toBe(true);
  });

  test.each([1000, 1002, 1007, 1008, 1009, 4400, 4401, 4403, 4408, 4499])(
    '%i is not retryable',
    (code) => {
      expect(describeClose(end(code), known).retryable).toBe(false);
    },
  );

  test('4408 is not retryable even if the error event says so', () => {
    const fatal = {
      type: 'error',
      code: 'idle_timeout',
      message: 'No audio.',
      fatal: true,
      retryable: true,
      session_id: 's',
      request_id: 'r',
    } as const;
    expect(describeClose(end(4408), { ...known, fatal })).toMatchObject({
      code: 4408,
      reason: 'idle_timeout',
      retryable: false,
      sessionId: 's',
      requestId: 'r',
    });
  });

  test('a refused upgrade carries the HTTP error, and a used credential is retryable', () => {
    const spent = refusal(401, 'session_credential_used');
    expect(describeClose({ ...end(1006), refusal: spent }, known)).toMatchObject({
      reason: 'session_credential_used',
      retryable: true,
      requestId: 'an id',
    });
    const forged = refusal(401, 'invalid_session_credential');
    expect(describeClose({ ...end(1006), refusal: forged }, known).retryable).toBe(false);
  });

  test.each([
    ['session_credential_expired', true],
    ['session_credential_used', true],
    ['invalid_session_credential', false],
  ])('4401 %s: retryable is %s', (reason, expected) => {
    expect(describeClose(end(4401, reason), known).retryable).toBe(expected);
  });

  test.each([
    ['a full node', { ...end(1006), refusal: refusal(503, 'capacity_exceeded') }, true],
    ['a full node, told to a browser', end(4503, 'capacity_exceeded'), true],
    ['a node without a database', end(4503, 'service_unavailable'), false],
  ])('says whether another node is wanted after %s', (_, ended, isElsewhere) => {
    expect(isNodeLost(describeClose(ended, known))).toBe(isElsewhere);
  });

  test('always has a reason and a message', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 4999 }), fc.boolean(), (code, opened) => {
        const info = describeClose(end(code), { ...known, opened });
        expect(info.reason).not.toBe('');
        expect(info.message).not.toBe('');
      }),
    );
  });
});

describe('failover', () => {
  const lost = describeClose(
    { code: 1011, reason: 'internal_error', refusal: null },
    { sessionId: 's', url: 'wss://asr.example.org/v1/asr/stream', opened: true, fatal: null },
  );

  test('retries soon after a stable session; short sessions do not reset the backoff', () => {
    const failover = new Failover();
    expect(failover.waitMsAfterClose(lost)).toBeLessThan(500);
    for (let at = 0; at < 3; at += 1) failover.waitMsAfterClose(lost);
    failover.onEnd(4_999);
    expect(failover.waitMsAfterClose(lost)).toBeGreaterThan(500);
    failover.onEnd(5_000);
    expect(failover.waitMsAfterClose(lost)).toBeLessThan(500);
  });

  test('streams that lose their connection together come back over two seconds', () => {
    const waits = Array.from({ length: 1_000 }, () =>
      Number(new Failover().waitMsAfterClose({ ...lost, code: 1006 })),
    );
    for (let fromMs = 0; fromMs < 2_000; fromMs += 50) {
      const together = waits.filter((wait) => wait >= fromMs && wait < fromMs + 50);
      expect(together.length).toBeLessThan(100);
    }
  });

  test.each([1013, 4429, 4503])('waits at least a second after %i', (code) => {
    expect(new Failover().waitMsAfterClose({ ...lost, code })).toBeGreaterThanOrEqual(1_000);
  });

  test('does not retry a non-retryable error, and retries an unknown error three times', () => {
    const failover = new Failover();
    expect(failover.waitMsAfterError(refusal(402, 'insufficient_credits'))).toBeNull();
    const unknown = new TypeError('fetch failed');
    const waits = [1, 2, 3, 4].map(() => failover.waitMsAfterError(unknown));
    expect(waits.map((wait) => wait === null)).toEqual([false, false, false, true]);
  });
});
