/** Whether this process accepts new work. */
export interface Lifecycle {
  /** Set once, when shutdown begins. */
  draining: boolean;
  /** When streams that are still open will be ended, on the monotonic clock. Null until the process drains. */
  drainDeadlineAtMs: number | null;
  /** Further conditions for readiness. */
  readonly checks: (() => boolean)[];
  /** What doesn't work although the process is ready, for operators. Fixed sentences that anyone may read. */
  readonly warnings: string[];
}
