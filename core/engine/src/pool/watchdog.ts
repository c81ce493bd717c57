import { readFileSync } from 'node:fs';

/** The state of a process in /proc. */
export interface ProcessState {
  /** As in /proc: R runs or wants to, S and D sleep, T and t are stopped, Z is dead. */
  readonly state: string;
  readonly cpuMs: number;
}

export const WATCH_INTERVAL_MS = 250;
/** Shorter silences are ordinary: /proc is not read for them. */
const QUIET_INTERVALS = 2;
/** Silent intervals before a stopped or sleeping child counts as hung: about 2 s, within the guaranteed 3 s. */
const SILENT_INTERVALS_MAX = 7;
/** CPU time without a response before a busy child counts as hung. No batch takes this long. */
const BUSY_CPU_MS_MAX = 5_000;
/** Silent intervals before a starved child counts as hung. */
const STARVED_INTERVALS_MAX = 60_000 / WATCH_INTERVAL_MS;
/** The limit where /proc is missing. */
const UNKNOWN_INTERVALS_MAX = 10_000 / WATCH_INTERVAL_MS;
/** One clock tick of /proc is 10 ms. A spurious wake-up may add one. */
const NO_PROGRESS_CPU_MS = 20;

/**
 * Tells a hung child from one that is busy or starved. Wall-clock time alone can't: on a loaded machine a healthy child
 * may be silent for seconds. So we count silence in our own ticks, which stop when we are starved too, and look at the
 * child's CPU time and state.
 */
export class Watchdog {
  readonly #look: () => ProcessState | null;
  #silentIntervals = 0;
  #cpuMsAtSilence: number | undefined;

  constructor(look: () => ProcessState | null) {
    this.#look = look;
  }

  /** Records a response of the child. */
  responded(): void {
    this.#silentIntervals = 0;
    this.#cpuMsAtSilence = undefined;
  }

  /** Call once per interval. Returns true if the child is hung. */
  stalled(): boolean {
    this.#silentIntervals += 1;
    if (this.#silentIntervals <= QUIET_INTERVALS) return false;
    const seen = this.#look();
    if (seen === null) return this.#silentIntervals > UNKNOWN_INTERVALS_MAX;
    this.#cpuMsAtSilence ??= seen.cpuMs;
    if (this.#silentIntervals <= SILENT_INTERVALS_MAX) return false;
    const workedMs = seen.cpuMs - this.#cpuMsAtSilence;
    if (workedMs > BUSY_CPU_MS_MAX) return true;
    if ('TtZX'.includes(seen.state)) return true;
    if (seen.state === 'R') return this.#silentIntervals > STARVED_INTERVALS_MAX;
    return workedMs <= NO_PROGRESS_CPU_MS || this.#silentIntervals > STARVED_INTERVALS_MAX;
  }
}

/** Null where there is no /proc or no such process. */
export function readProcessState(pid: number): ProcessState | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return null;
  }
}

const TICK_MS = 10;

function parseStat(stat: string): ProcessState {
  // The name in parentheses may contain spaces. The state follows it; user and system time are
  // fields 11 and 12 after that.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
}
