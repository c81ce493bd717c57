import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { StreamListeners } from '../src/stream.ts';
import { SvcStream } from '../src/stream/svc-stream.ts';
import { ScriptedService, type ConnectionScript, type SessionScript } from './scripted-service.ts';

const SECOND = new Int16Array(16_000);
const HOUR_MS = 3_600_000;
const GRANTED: SessionScript = { is: 'granted', afterMs: 10 };

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
});
afterEach(() => vi.useRealTimers());

interface Outcome {
  readonly code: string;
  readonly tookMs: number;
}

/** Calls `finish()` and advances the clock until it settles. Fails if that takes longer than `limitMs`. */
async function finishWithin(stream: SvcStream, limitMs: number): Promise<Outcome> {
  const startedAt = performance.now();
  const outcome: { code: string | null } = { code: null };
  stream.finish().then(
    () => (outcome.code = 'finished'),
    (error: unknown) => (outcome.code = Object(error).code),
  );
  while (outcome.code === null && performance.now() - startedAt <= limitMs) {
    await vi.advanceTimersByTimeAsync(500);
  }
  return { code: outcome.code ?? 'pending', tookMs: performance.now() - startedAt };
}

function open(sessions: readonly SessionScript[], connections: readonly ConnectionScript[]) {
  const service = new ScriptedService(sessions, connections);
  const stream = new SvcStream({ getSession: service.getSession }, service.connect);
  return { service, stream };
}

const session: fc.Arbitrary<SessionScript> = fc.oneof(
  fc.record({ is: fc.constant('granted'), afterMs: fc.nat(90_000) }),
  fc.record({ is: fc.constant('refused'), retryAfterMs: fc.nat(HOUR_MS) }),
  fc.constant({ is: 'broken' } as const),
  fc.constant({ is: 'hanging' } as const),
);
const connection: fc.Arbitrary<ConnectionScript> = fc.oneof(
  fc.constant({ is: 'unopened' } as const),
  fc.record({
    is: fc.constant('refused'),
    status: fc.constantFrom(429, 503),
    retryAfterMs: fc.nat(HOUR_MS),
  }),
  fc.constant({ is: 'unready' } as const),
  fc.constant({ is: 'silent' } as const),
  fc.constant({ is: 'stalled' } as const),
  fc.record({
    is: fc.constant('closing'),
    afterMs: fc.nat(9_000),
    code: fc.constantFrom(1000, 1006, 1011, 1012, 1013, 4401, 4403, 4408, 4429, 4503),
  }),
  fc.record({ is: fc.constant('answering'), afterMs: fc.nat(9_000) }),
);

/**
 * The sum of a slow first `getSession`, the give-up time, a hanging `getSession` and a connection that
 * never gets ready.
 */
const LIMIT_MS = 90_000 + 120_000 + 120_000 + 30_000 + 45_000;

test('finish() settles in every state of the stream, whatever the service does', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(session, { minLength: 1, maxLength: 4 }),
      fc.array(connection, { minLength: 1, maxLength: 4 }),
      fc.nat(180_000),
      fc.nat(20),
      async (sessions, connections, finishAtMs, seconds) => {
        const beganMs = performance.now();
        const { stream, service } = open(sessions, connections);
        for (let written = 0; written < seconds; written += 1) void stream.write(SECOND);
        await vi.advanceTimersByTimeAsync(finishAtMs);
        const { code } = await finishWithin(stream, LIMIT_MS);
        expect(code).not.toBe('pending');
        // One a second until it gives up after two minutes, as the shortest Retry-After asks, and a few quick ones.
        const elapsedS = Math.min(120, (performance.now() - beganMs) / 1_000);
        expect(service.sessionsAsked).toBeLessThan(10 + elapsedS);
      },
    ),
    { numRuns: 300 },
  );
});

describe('finish() rejects in time', () => {
  test.each<[string, readonly SessionScript[], readonly ConnectionScript[], string, number]>([
    ['never opens', [GRANTED], [{ is: 'unopened' }], 'connection_refused', 65_000],
    ['never gets ready', [GRANTED], [{ is: 'unready' }], 'connection_lost', 70_000],
    ['answers no flush', [GRANTED], [{ is: 'silent' }], 'connection_lost', 145_000],
    ['takes no audio', [GRANTED], [{ is: 'stalled' }], 'connection_lost', 145_000],
    ['has no session', [{ is: 'hanging' }], [], 'get_session_timeout', 120_500],
    [
      'sends a Retry-After of an hour',
      [{ is: 'refused', retryAfterMs: HOUR_MS }],
      [],
      'request_rate_exceeded',
      45_500,
    ],
    [
      'refuses the upgrade for an hour',
      [GRANTED],
      [{ is: 'refused', status: 503, retryAfterMs: HOUR_MS }],
      'service_restarting',
      45_500,
    ],
    [
      'fails every few seconds after a stable start',
      [GRANTED],
      [{ is: 'closing', afterMs: 8_000, code: 1011 }],
      'connection_lost',
      140_000,
    ],
  ])('when the service %s', async (_, sessions, connections, expected, limitMs) => {
    const { stream } = open(sessions, connections);
    for (let second = 0; second < 20; second += 1) void stream.write(SECOND);
    expect(await finishWithin(stream, limitMs)).toMatchObject({ code: expected });
  });
});

test.each<ConnectionScript>([{ is: 'unopened' }, { is: 'unready' }, { is: 'silent' }])(
  'finish() gets its final from another session if the first one is $is',
  async (first) => {
    const { stream } = open([GRANTED], [first, { is: 'answering', afterMs: 10 }]);
    void stream.write(SECOND);
    expect(await finishWithin(stream, 20_000)).toMatchObject({ code: 'finished' });
  },
);

test('a Retry-After of an hour in a failover is capped by the give-up time', async () => {
  const refused: SessionScript = { is: 'refused', retryAfterMs: HOUR_MS };
  const { stream, service } = open(
    [GRANTED, refused, refused],
    [{ is: 'closing', afterMs: 6_000, code: 1011 }],
  );
  void stream.write(SECOND);
  const ended = stream.closed.then(({ reason }) => [reason, performance.now()]);
  const startedAt = performance.now();
  await vi.advanceTimersByTimeAsync(130_000);
  const [reason, at] = await Promise.race([ended, Promise.resolve(['still waiting', 0])]);
  expect(reason).toBe('request_rate_exceeded');
  expect(Number(at) - startedAt).toBeLessThan(127_000);
  // One attempt when the session failed, and a last one at the give-up time.
  expect(service.sessionsAsked).toBe(3);
});

test.each([4408, 1000])(
  'a service that ends every session at once with %i is not called in a tight loop',
  async (code) => {
    const { stream, service } = open(
      [{ is: 'granted', afterMs: 0 }],
      [{ is: 'closing', afterMs: 0, code, reason: code === 1000 ? 'max_audio_reached' : '' }],
    );
    void stream.write(SECOND);
    await vi.advanceTimersByTimeAsync(180_000);
    expect((await stream.closed).code).toBe(code);
    expect(service.sessionsAsked).toBeLessThan(40);
  },
);

test('a waiting event says what the stream waits for, and for how long', async () => {
  const { stream } = open(
    [{ is: 'refused', retryAfterMs: 5_000 }, GRANTED],
    [{ is: 'answering', afterMs: 10 }],
  );
  const waits: StreamListeners['waiting'][] = [];
  stream.on('waiting', (event) => waits.push(event));
  void stream.write(SECOND);
  expect(await finishWithin(stream, 10_000)).toMatchObject({ code: 'finished' });
  expect(waits).toMatchObject([
    {
      why: 'first',
      waitMs: expect.toSatisfy((ms) => ms >= 5_000 && ms <= 5_500),
      error: { code: 'request_rate_exceeded', retryable: true },
    },
  ]);
});

test.each([
  ['idle_timeout', 'resume'],
  ['session_time_limit', 'rollover'],
])('a stream survives 4408 %s with a new session when audio arrives', async (reason, why) => {
  const { stream, service } = open([GRANTED], [{ is: 'answering', afterMs: 10 }]);
  const reconnects: string[] = [];
  stream.on('reconnecting', (event) => reconnects.push(event.why));
  void stream.write(SECOND);
  const first = stream.flush();
  await vi.advanceTimersByTimeAsync(1_000);
  expect((await first).text).toBe('nĩ wega');
  service.endLast(4408, reason);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(service.connectionsOpened).toBe(1);
  void stream.write(SECOND);
  expect(await finishWithin(stream, 10_000)).toMatchObject({ code: 'finished' });
  expect([service.connectionsOpened, reconnects]).toEqual([2, [why]]);
  expect(stream.transcript.text).toBe('nĩ wega nĩ wega');
});
