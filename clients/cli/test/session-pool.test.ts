import { EXAMPLE_SESSION } from '@svc-asr/protocol/documents/examples.ts';
import { SvcError } from '@svc-asr/sdk';
import { expect, test } from 'vitest';
import { NO_ROOM, SessionPool } from '../src/bulk/session-pool.ts';

function refusal(code: string): SvcError {
  const retryable = code !== 'insufficient_credits';
  return new SvcError({ code, message: 'Busy.', retryable, status: 429 });
}

/** A service with room for this many sessions and a clock that only sleeping advances. */
function service(room: number, code = 'concurrency_limit_exceeded') {
  const log: string[] = [];
  let clockMs = 0;
  let open = 0;
  const pool = new SessionPool({
    createOnce: async () => {
      log.push(`once at ${clockMs}`);
      if (open >= room) throw refusal(code);
      open += 1;
      return EXAMPLE_SESSION;
    },
    createPatiently: async () => {
      log.push('retrying');
      return EXAMPLE_SESSION;
    },
    sleep: async (ms) => void (clockMs += ms),
    now: () => clockMs,
  });
  const { signal } = new AbortController();
  const create = (why: 'first' | 'rollover', worker: object = {}): Promise<unknown> =>
    pool
      .create(worker, { why, signal, idempotencyKey: 'key' }, () => log.push('waiting'))
      .then(
        () => 'session',
        (error: unknown) => Object(error).code,
      );
  return { pool, log, create };
}

test.each(['concurrency_limit_exceeded', 'insufficient_credits'])(
  'stops workers when the account allows no more sessions (%s)',
  async (code) => {
    const { create } = service(1, code);
    const outcomes = await Promise.all([create('first'), create('first'), create('first')]);
    expect(outcomes).toEqual(['session', NO_ROOM, NO_ROOM]);
  },
);

test('waits when another client holds the only session', async () => {
  const { create, log } = service(0);
  expect(await create('first')).toBe('session');
  expect(log).toEqual(['once at 0', 'waiting', 'retrying']);
});

test('a worker that changes sessions waits and does not stop', async () => {
  const { create } = service(2);
  const worker = {};
  await Promise.all([create('first', worker), create('first')]);
  expect(await create('rollover', worker)).toBe('session');
});

test('creates the next session only when the RateLimit header allows one', async () => {
  const { pool, create, log } = service(3);
  await create('first');
  pool.onRateLimit({ name: 'sessions', remaining: 0, resetMs: 2_000, partition: null });
  await Promise.all([create('first'), create('first')]);
  expect(log).toEqual(['once at 0', 'once at 2000', 'once at 2000']);
});
