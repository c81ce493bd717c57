import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeLock, waitForPrevious, writeLock } from '../../scripts/dev-lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-dev-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

function lockedBy(pid: number | undefined, state: string): Promise<void> {
  return writeFile(join(folder, 'running.json'), JSON.stringify({ pid, state }));
}

test('a start waits for a previous one that drains its streams, and says so once', async () => {
  const previous = spawn('sleep', ['60']);
  await once(previous, 'spawn');
  await lockedBy(previous.pid, 'stopping');
  const reports: string[] = [];
  const waiting = waitForPrevious(folder, (text) => reports.push(text));
  await expect.poll(() => reports).toHaveLength(1);
  expect(reports[0]).toContain(`waiting for the previous npm run dev (process ${previous.pid})`);
  previous.kill();
  await waiting;
  expect(reports).toHaveLength(1);
});

test('a start refuses to run beside another one', async () => {
  const previous = spawn('sleep', ['60']);
  await once(previous, 'spawn');
  await lockedBy(previous.pid, 'running');
  await expect(waitForPrevious(folder, () => {})).rejects.toThrow('is running already');
  previous.kill();
});

test('a start ignores a process that died, a broken file and its own', async () => {
  const previous = spawn('true');
  await once(previous, 'exit');
  await lockedBy(previous.pid, 'running');
  await waitForPrevious(folder, () => {});
  await writeFile(join(folder, 'running.json'), '{"pid":');
  await waitForPrevious(folder, () => {});
  await writeLock(folder, 'stopping');
  await waitForPrevious(folder, () => {});
  await removeLock(folder);
  await expect(readFile(join(folder, 'running.json'))).rejects.toThrow('ENOENT');
});
