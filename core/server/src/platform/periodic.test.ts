import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLog } from './observe/log.ts';
import { startPeriodic, type PeriodicTask } from './periodic.ts';

let lines: string[];
let task: PeriodicTask | undefined;
let release: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  release = () => {};
});
afterEach(() => {
  void task?.stop();
  vi.useRealTimers();
});

function start(run: (signal: AbortSignal) => Promise<void>, random = () => 0.5): PeriodicTask {
  const log = createLog({ level: 'warn', destination: { write: (line) => void lines.push(line) } });
  task = startPeriodic({ everyMs: 1_000, run, log, failure: 'It failed.', random });
  return task;
}

test('runs at once and then every period', async () => {
  let runs = 0;
  await start(async () => void (runs += 1)).firstRun;
  expect(runs).toBe(1);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(runs).toBe(4);
});

test('never overlaps, and a run that hangs leaves no backlog', async () => {
  let runs = 0;
  start(() => {
    runs += 1;
    return new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs).toBe(1);
  release();
  await vi.advanceTimersByTimeAsync(999);
  expect(runs).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toBe(2);
  release();
});

test('spreads the waits by a tenth either way', async () => {
  const startTimes: number[] = [];
  const chances = [0, 1];
  await start(
    async () => void startTimes.push(Date.now()),
    () => chances.shift() ?? 0.5,
  ).firstRun;
  await vi.advanceTimersByTimeAsync(2_000);
  const [first = 0, second = 0, third = 0] = startTimes;
  expect([second - first, third - second]).toEqual([900, 1_100]);
});

test('logs a failure once until a run succeeds again', async () => {
  const outcomes = ['fail', 'fail', 'ok', 'fail'];
  await start(async () => {
    if (outcomes.shift() === 'fail') throw new Error('no');
  }).firstRun;
  expect(lines).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(lines).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lines).toHaveLength(2);
});

test('runNow waits for the run under way and then runs again', async () => {
  const order: string[] = [];
  const started = start(async () => {
    order.push('start');
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    order.push('end');
  });
  await vi.advanceTimersByTimeAsync(0);
  const again = started.runNow();
  release();
  await vi.advanceTimersByTimeAsync(0);
  release();
  await again;
  expect(order).toEqual(['start', 'end', 'start', 'end']);
});

test('stop aborts the signal, starts nothing more, and returns within two seconds of a hanging run', async () => {
  let seen: AbortSignal | undefined;
  let runs = 0;
  const started = start((signal) => {
    seen = signal;
    runs += 1;
    return new Promise(() => {});
  });
  await vi.advanceTimersByTimeAsync(0);
  const stopped = vi.fn<() => void>();
  void started.stop().then(stopped);
  expect(seen?.aborted).toBe(true);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(stopped).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(stopped).toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(runs).toBe(1);
});
