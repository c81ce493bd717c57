import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

interface ProcessTimes {
  readonly parent: number;
  readonly own: number;
  /** CPU time of children that have exited. */
  readonly children: number;
}

/** Returns the CPU seconds of a process and all its descendants, including exited ones. */
export function cpuSecondsOf(root: number): number {
  const all = new Map<number, ProcessTimes>();
  for (const name of readdirSync('/proc')) {
    const times = /^\d+$/.test(name) ? timesOf(Number(name)) : null;
    if (times !== null) all.set(Number(name), times);
  }
  function ticks(pid: number): number {
    const times = all.get(pid);
    if (times === undefined) return 0;
    let sum = times.own + times.children;
    for (const [other, { parent }] of all) if (parent === pid) sum += ticks(other);
    return sum;
  }
  return ticks(root) / TICKS_PER_SECOND;
}

function timesOf(pid: number): ProcessTimes | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain anything. Numbers follow the last parenthesis.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
    return { parent, own: user + system, children: childUser + childSystem };
  } catch {
    return null;
  }
}
