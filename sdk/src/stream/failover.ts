import type { CloseInfo } from './close-info.ts';
import { backoffMs } from '../retry.ts';

/** Only a session that lasted proves that the trouble is over: one that dies young must not reset the waits. */
const STABLE_MS = 5_000;
/** So long without a final or a session that lasted: the same audio would be replayed for ever. */
const GIVE_UP_MS = 120_000;
/** Nothing was ever said, so nothing is lost: a caller would rather hear of it. */
const GIVE_UP_FIRST_MS = 15_000;
/** Errors that do not say whether trying again helps are given this many chances. */
const UNKNOWN_ERRORS_MAX = 3;

/** How long to wait between sessions, and when to stop trying. */
export class Failover {
  #failures = 0;
  #failingSince: number | null = null;
  #unknownErrors = 0;
  #wasReady = false;

  onEnd(readyForMs: number): void {
    if (readyForMs > 0) {
      this.#unknownErrors = 0;
      this.#wasReady = true;
    }
    if (readyForMs < STABLE_MS) return;
    this.#failures = 0;
    this.#failingSince = null;
  }

  /** A final came: whatever fails next is not the same failure going on, though the waits stay as they are. */
  onProgress(): void {
    this.#failingSince = null;
  }

  /** Null: it has failed for too long. The first failure after a stable session is followed at once. */
  waitMsAfterClose(close: CloseInfo): number | null {
    const atOnce = this.#failures === 0 && close.code !== 1013;
    const waitMs = this.#nextWaitMs();
    return atOnce && waitMs !== null ? 0 : waitMs;
  }

  /** After `getSession` failed. Null: trying again is of no use, or has been for too long. */
  waitMsAfterError(error: unknown): number | null {
    const told = saysRetryable(error);
    if (told === null) this.#unknownErrors += 1;
    if (told === false || this.#unknownErrors > UNKNOWN_ERRORS_MAX) return null;
    const waitMs = this.#nextWaitMs();
    return waitMs === null ? null : Math.max(waitMs, retryAfterMs(error));
  }

  #nextWaitMs(): number | null {
    const now = performance.now();
    this.#failingSince ??= now;
    const patienceMs = this.#wasReady ? GIVE_UP_MS : GIVE_UP_FIRST_MS;
    if (now - this.#failingSince > patienceMs) return null;
    const waitMs = backoffMs(this.#failures, Math.random);
    this.#failures += 1;
    return waitMs;
  }
}

function saysRetryable(error: unknown): boolean | null {
  if (typeof error !== 'object' || error === null || !('retryable' in error)) return null;
  return error.retryable === true;
}

function retryAfterMs(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('retryAfterMs' in error)) return 0;
  return typeof error.retryAfterMs === 'number' ? error.retryAfterMs : 0;
}
