import { readdirSync, readFileSync } from 'node:fs';

/** Returns the CPU time of other processes, including all threads. */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const threads = readdirSync(`/proc/${pid}/task`);
    const ns = threads.map((thread) => runNs(`/proc/${pid}/task/${thread}/schedstat`));
    return sum + ns.reduce((a, b) => a + b, 0) / 1e6;
  }, 0);
}

function runNs(path: string): number {
  try {
    return Number(readFileSync(path, 'latin1').split(' ')[0]);
  } catch {
    // The thread has ended since it was listed.
    return 0;
  }
}

/** Returns the memory of processes together. */
export function residentKib(...pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return sum + Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  }, 0);
}
