import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Which `npm run dev` uses the folder. A stopping one still holds its port, its database and its open streams. */
interface Lock {
  readonly pid: number;
  readonly state: 'running' | 'stopping';
}

const POLL_MS = 200;
/** Longer than the service drains. */
const WAIT_MS_MAX = 60_000;

export async function writeLock(folder: string, state: Lock['state']): Promise<void> {
  await writeFile(lockFile(folder), JSON.stringify({ pid: process.pid, state }));
}

export async function removeLock(folder: string): Promise<void> {
  await rm(lockFile(folder), { force: true });
}

/** Waits for a previous `npm run dev` that is stopping, and reports that. Throws if one is running. */
export async function waitForPrevious(
  folder: string,
  report: (text: string) => void,
): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  let isReported = false;
  for (;;) {
    const lock = await readLock(folder);
    if (lock === null || !isAlive(lock.pid)) return;
    if (lock.state === 'running') {
      throw new Error(
        `npm run dev is running already (process ${lock.pid}). Stop it, or start another with PORT and SVC_DEV_DIR set.`,
      );
    }
    if (performance.now() > deadline) {
      throw new Error(
        `The previous npm run dev (process ${lock.pid}) has not stopped within a minute. End it, then retry.`,
      );
    }
    if (!isReported) {
      report(`waiting for the previous npm run dev (process ${lock.pid}): its streams are ending`);
    }
    isReported = true;
    await delay(POLL_MS);
  }
}

async function readLock(folder: string): Promise<Lock | null> {
  const text = await readFile(lockFile(folder), 'utf8').catch(() => '');
  try {
    const lock: Lock = JSON.parse(text);
    return lock;
  } catch {
    // There is no lock, or its process died while it wrote it.
    return null;
  }
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function lockFile(folder: string): string {
  return join(folder, 'running.json');
}
