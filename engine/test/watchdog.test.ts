import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import {
  lookAtProcess,
  WATCH_INTERVAL_MS,
  Watchdog,
  type ProcessState,
} from '../src/sherpa/watchdog.ts';

/** How long it takes to give up a child that is silent and looks like that, or null within ten minutes. */
function givenUpAfterMs(look: (silentMs: number) => ProcessState | null): number | null {
  let silentMs = 0;
  const watchdog = new Watchdog(() => look(silentMs));
  watchdog.heard();
  for (; silentMs < 600_000; silentMs += WATCH_INTERVAL_MS) {
    if (watchdog.stalled()) return silentMs;
  }
  return null;
}

test('a stopped child is given up in time to tell its streams within 3 s', () => {
  expect(givenUpAfterMs(() => ({ state: 'T', cpuMs: 500 }))).toBeLessThanOrEqual(2_000);
});

test('a child asleep that does not answer is given up as soon', () => {
  expect(givenUpAfterMs(() => ({ state: 'S', cpuMs: 500 }))).toBeLessThanOrEqual(2_000);
});

test('a starved child that wants the processor is not taken for a hung one', () => {
  expect(givenUpAfterMs(() => ({ state: 'R', cpuMs: 500 }))).toBeGreaterThan(30_000);
});

test('a busy child that gets a little of the processor is not taken for a hung one', () => {
  const afterMs = givenUpAfterMs((silentMs) => ({ state: 'S', cpuMs: silentMs / 10 }));
  expect(afterMs).toBeGreaterThan(30_000);
});

test('a child that spins without answering is given up', () => {
  const afterMs = givenUpAfterMs((silentMs) => ({ state: 'R', cpuMs: silentMs }));
  expect(afterMs).toBeLessThan(10_000);
});

test('where the system tells nothing, silence alone decides, later', () => {
  expect(givenUpAfterMs(() => null)).toBeGreaterThanOrEqual(10_000);
});

test('a child that answers is never given up', () => {
  const watchdog = new Watchdog(() => ({ state: 'T', cpuMs: 0 }));
  for (let times = 0; times < 1_000; times += 1) {
    expect(watchdog.stalled()).toBe(false);
    watchdog.heard();
  }
});

test('the state and the processor time of a real process are read', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
  await once(child, 'spawn');
  try {
    await expect.poll(() => lookAtProcess(child.pid ?? 0)?.cpuMs).toBeGreaterThan(0);
    child.kill('SIGSTOP');
    await expect.poll(() => lookAtProcess(child.pid ?? 0)?.state).toBe('T');
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  expect(lookAtProcess(child.pid ?? 0)).toBeNull();
});
