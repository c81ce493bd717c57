import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import {
  readProcessState,
  WATCH_INTERVAL_MS,
  Watchdog,
  type ProcessState,
} from '../src/pool/watchdog.ts';

/** How long until a silent child in this state counts as hung, or null if not within ten minutes. */
function hungAfterMs(look: (silentMs: number) => ProcessState | null): number | null {
  let silentMs = 0;
  const watchdog = new Watchdog(() => look(silentMs));
  watchdog.responded();
  for (; silentMs < 600_000; silentMs += WATCH_INTERVAL_MS) {
    if (watchdog.stalled()) return silentMs;
  }
  return null;
}

test('detects a stopped child in time to fail its streams within 3 s', () => {
  expect(hungAfterMs(() => ({ state: 'T', cpuMs: 500 }))).toBeLessThanOrEqual(2_000);
});

test('detects a sleeping child that does not respond as soon', () => {
  expect(hungAfterMs(() => ({ state: 'S', cpuMs: 500 }))).toBeLessThanOrEqual(2_000);
});

test('does not mistake a starved child for a hung one', () => {
  expect(hungAfterMs(() => ({ state: 'R', cpuMs: 500 }))).toBeGreaterThan(30_000);
});

test('does not mistake a busy child with little CPU time for a hung one', () => {
  const afterMs = hungAfterMs((silentMs) => ({ state: 'S', cpuMs: silentMs / 10 }));
  expect(afterMs).toBeGreaterThan(30_000);
});

test('detects a child that spins without responding', () => {
  const afterMs = hungAfterMs((silentMs) => ({ state: 'R', cpuMs: silentMs }));
  expect(afterMs).toBeLessThan(10_000);
});

test('without /proc, a longer silence decides', () => {
  expect(hungAfterMs(() => null)).toBeGreaterThanOrEqual(10_000);
});

test('never reports a child that responds', () => {
  const watchdog = new Watchdog(() => ({ state: 'T', cpuMs: 0 }));
  for (let times = 0; times < 1_000; times += 1) {
    expect(watchdog.stalled()).toBe(false);
    watchdog.responded();
  }
});

test('reads the state and CPU time of a real process', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
  await once(child, 'spawn');
  try {
    await expect.poll(() => readProcessState(child.pid ?? 0)?.cpuMs).toBeGreaterThan(0);
    child.kill('SIGSTOP');
    await expect.poll(() => readProcessState(child.pid ?? 0)?.state).toBe('T');
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  expect(readProcessState(child.pid ?? 0)).toBeNull();
});
