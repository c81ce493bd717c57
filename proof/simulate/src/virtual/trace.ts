import { currentProcess } from './process.ts';
import { scheduler } from './scheduler.ts';

/** One line of what happened. `to` is set for a message from one process to another. */
export interface TraceLine {
  readonly atMs: number;
  readonly from: string;
  readonly to: string | null;
  readonly text: string;
}

/** Everything noteworthy that happened in one run. Part of the run's hash. */
export class Trace {
  readonly lines: TraceLine[] = [];

  /** `from` is the current process unless it is given. */
  add(text: string, parties: { readonly from?: string; readonly to?: string } = {}): void {
    const from = parties.from ?? currentProcess()?.name ?? 'world';
    const to = parties.to ?? null;
    this.lines.push({ atMs: scheduler.nowMs, from, to, text });
    scheduler.note(`${from} ${to ?? ''} ${text}`);
  }
}
