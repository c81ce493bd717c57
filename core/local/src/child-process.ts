import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Kills a process when this one ends, so that an interrupted test leaves none behind. */
export function killOnExit(child: ChildProcess): void {
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}

/** The processes that a process has started, on Linux. */
export function childrenOf(pid: number): number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  return readFileSync(path, 'latin1').trim().split(' ').filter(Boolean).map(Number);
}
