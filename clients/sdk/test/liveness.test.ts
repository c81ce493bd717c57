import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EXAMPLE_SESSION } from '@svc-asr/protocol/documents/examples.ts';
import { SvcStream } from '../src/stream/svc-stream.ts';
import { SimulatedLink } from './simulated-link.ts';

const FRAME_MS = 100;
const FRAME = new Int16Array(FRAME_MS * 16);

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
});
afterEach(() => vi.useRealTimers());

interface Seen {
  readonly type: 'ready' | 'reconnecting';
  readonly atMs: number;
  readonly reason?: string;
}

function open(link: SimulatedLink) {
  const stream = new SvcStream({ getSession: link.getSession }, link.connect);
  const seen: Seen[] = [];
  stream.on('ready', () => seen.push({ type: 'ready', atMs: performance.now() }));
  stream.on('reconnecting', ({ close }) =>
    seen.push({ type: 'reconnecting', atMs: performance.now(), reason: close.reason }),
  );
  return { stream, seen };
}

/** Speaks in real time. */
async function speak(stream: SvcStream, ms: number): Promise<void> {
  for (let spoken = 0; spoken < ms; spoken += FRAME_MS) {
    void stream.write(FRAME);
    await vi.advanceTimersByTimeAsync(FRAME_MS);
  }
}

test('reconnecting comes within 3 s after the network dies, at any moment and on any ordinary network', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(250), fc.integer({ min: 20, max: 90 }), async (delayMs, frames) => {
      const link = new SimulatedLink({ delayMs });
      const { stream, seen } = open(link);
      await speak(stream, 6 * delayMs + frames * FRAME_MS);
      expect(seen.map(({ type }) => type)).toEqual(['ready']);
      const cutAt = performance.now();
      link.stall(Infinity);
      await speak(stream, 3_500);
      expect(seen[1]).toMatchObject({ type: 'reconnecting', reason: 'connection_stalled' });
      expect((seen[1]?.atMs ?? Infinity) - cutAt).toBeLessThanOrEqual(3_000);
      const closed = stream.close();
      await vi.advanceTimersByTimeAsync(5_000);
      await closed;
    }),
    { numRuns: 60 },
  );
});

test('slow networks with short stalls cause no reconnecting event', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1_500),
      fc.array(fc.record({ afterMs: fc.integer({ min: 1_000, max: 5_000 }), ms: fc.nat(1_500) }), {
        maxLength: 6,
      }),
      async (delayMs, stalls) => {
        const link = new SimulatedLink({ delayMs });
        const { stream, seen } = open(link);
        await speak(stream, 8 * delayMs + 1_000);
        for (const { afterMs, ms } of stalls) {
          await speak(stream, afterMs);
          const stallMs = Math.max(0, Math.min(ms, 1_900 - 2 * delayMs));
          link.stall(stallMs);
          await speak(stream, stallMs);
        }
        await speak(stream, 5_000);
        expect(seen.map(({ type }) => type)).toEqual(['ready']);
        expect(link.connectionsOpened).toBe(1);
        const closed = stream.close();
        await vi.advanceTimersByTimeAsync(5_000);
        await closed;
      },
    ),
    { numRuns: 60 },
  );
});

test.each([4_000, 10_000])(
  'after a stall of %i ms the same session continues, and ready says so',
  async (stallMs) => {
    const link = new SimulatedLink({ delayMs: 50 });
    const { stream, seen } = open(link);
    await speak(stream, 3_000);
    link.stall(stallMs);
    await speak(stream, stallMs + 2_000);
    expect(seen.map(({ type }) => type)).toEqual(['ready', 'reconnecting', 'ready']);
    expect(link.connectionsOpened).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(link.receivedAudioMs).toBe(3_000 + stallMs + 2_000);
    // Slow answers make the stream more patient.
    link.stall(stallMs);
    await speak(stream, stallMs + 2_000);
    expect(seen).toHaveLength(3);
  },
);

test('a dead network ends the session after 12 s, and the next one receives all audio since the last final', async () => {
  const link = new SimulatedLink({ delayMs: 50 });
  const { stream, seen } = open(link);
  await speak(stream, 3_000);
  const cutAt = performance.now();
  link.stall(Infinity);
  await speak(stream, 11_000);
  expect(link.connectionsOpened).toBe(1);
  link.heal();
  await speak(stream, 6_000);
  expect(seen.map(({ type, reason }) => reason ?? type)).toEqual([
    'ready',
    'connection_stalled',
    'connection_lost',
    'ready',
  ]);
  expect((seen[2]?.atMs ?? Infinity) - cutAt).toBeLessThan(18_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(link.receivedAudioMs).toBe(20_000);
});

test('a file that is sent faster than the service reads it causes no reconnecting event', async () => {
  const link = new SimulatedLink({ delayMs: 20, readsMsPerSecond: 2_000 });
  const { stream, seen } = open(link);
  for (let second = 0; second < 120; second += 1) void stream.write(new Int16Array(16_000));
  await vi.advanceTimersByTimeAsync(70_000);
  expect(link.receivedAudioMs).toBe(120_000);
  expect(seen.map(({ type }) => type)).toEqual(['ready']);
});

test('a stream that sends nothing asks nothing', async () => {
  const link = new SimulatedLink({ delayMs: 20 });
  const { stream } = open(link);
  await speak(stream, 3_000);
  await vi.advanceTimersByTimeAsync(2_000);
  const { questions } = link;
  expect(questions).toBeLessThanOrEqual(10);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(link.questions).toBe(questions);
});

test('a process that was suspended does not blame the network', async () => {
  const link = new SimulatedLink({ delayMs: 300 });
  const { stream, seen } = open(link);
  await speak(stream, 5_000);
  const real = performance.now.bind(performance);
  const suspended = vi.spyOn(performance, 'now').mockImplementation(() => real() + 60_000);
  await speak(stream, 3_000);
  suspended.mockRestore();
  expect(seen.map(({ type }) => type)).toEqual(['ready']);
});

test('a stream with one session only does not claim to reconnect', async () => {
  const link = new SimulatedLink({ delayMs: 20 });
  const stream = new SvcStream({ session: EXAMPLE_SESSION }, link.connect);
  const events: string[] = [];
  stream.on('reconnecting', ({ type }) => events.push(type));
  await speak(stream, 2_000);
  link.stall(Infinity);
  await speak(stream, 20_000);
  expect(await stream.closed).toMatchObject({ reason: 'connection_lost' });
  expect(events).toEqual([]);
});
