/** How much a run has done, in milliseconds of audio. */
export interface Progress {
  readonly doneMs: number;
  readonly restMs: number;
}

/** No estimate before this time: the first seconds say little. */
const WARM_UP_MS = 3_000;
/** How fast the shown time follows a changed pace. */
const FOLLOW_MS = 10_000;

/** Estimates the time left from the average pace. The estimate counts down and moves to a new pace gradually. */
export class TimeLeft {
  readonly #startedAt: number;
  #shown: { readonly atMs: number; readonly leftMs: number } | null = null;

  /** `startedAt` is when the first audio could be sent. */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** Returns null while nothing is known. */
  estimate(nowMs: number, { doneMs, restMs }: Progress): number | null {
    const elapsedMs = nowMs - this.#startedAt;
    if (elapsedMs < WARM_UP_MS || doneMs <= 0) return null;
    const paceMs = (elapsedMs * restMs) / doneMs;
    const leftMs = this.#shown === null ? paceMs : this.#follow(this.#shown, nowMs, paceMs);
    this.#shown = { atMs: nowMs, leftMs };
    return leftMs;
  }

  #follow(shown: { atMs: number; leftMs: number }, nowMs: number, paceMs: number): number {
    const passedMs = nowMs - shown.atMs;
    const expectedMs = Math.max(0, shown.leftMs - passedMs);
    return expectedMs + (paceMs - expectedMs) * (1 - Math.exp(-passedMs / FOLLOW_MS));
  }
}
