import type { CloseInfo } from './close-info.ts';
import { isRecord } from '../response-guards.ts';
import { backoffMs, isPaced, PACED_MS_MIN, pacedMs } from '../retry.ts';
import {
  FIRST_MS_MAX,
  FIRST_MS_MAX_LOST,
  GIVE_UP_FIRST_MS,
  GIVE_UP_MS,
  STABLE_MS,
  UNKNOWN_ERRORS_MAX,
} from './limits.ts';

/** Decides how long to wait between sessions, and when to give up. No wait goes past the give-up time. */
export class Failover {
  #failures = 0;
  #failingSince: number | null = null;
  #unknownErrors = 0;
  #wasReady = false;
  /** The session lasted or brought a final, so the next one may follow at once. */
  #sessionWorked = false;
  #finishing = false;

  onEnd(readyForMs: number): void {
    if (readyForMs > 0) {
      this.#unknownErrors = 0;
      this.#wasReady = true;
    }
    if (readyForMs < STABLE_MS || this.#finishing) return;
    this.#sessionWorked = true;
    this.#failures = 0;
    this.#failingSince = null;
  }

  /** A final arrived, so the next failure starts a new give-up period. The backoff stays. */
  onProgress(): void {
    this.#sessionWorked = true;
    this.#failingSince = null;
  }

  /** From now on only a final counts as progress: `finish()` must settle. */
  onFinish(): void {
    this.#finishing = true;
  }

  /** Returns null when a retry cannot help or it is time to give up. After a stable session the first retry comes soon. */
  waitMsAfterClose(close: CloseInfo): number | null {
    if (!close.retryable) return null;
    this.#takeSessionWorked();
    // The service is restarting, busy or over a rate limit: never reconnect at once.
    const isBusy = [1013, 4429, 4503].includes(close.code);
    const isFirst = this.#failures === 0 && !isBusy && !isPaced(close.retryAfterMs);
    const waitMs = this.#nextWaitMs(close.retryAfterMs, isBusy ? PACED_MS_MIN : 0);
    if (!isFirst || waitMs === null) return waitMs;
    // 1006: the connection broke, without a word of the service.
    return (close.code === 1006 ? FIRST_MS_MAX_LOST : FIRST_MS_MAX) * Math.random();
  }

  /**
   * After a session that ended by plan: full, idle or too old. Returns 0 if it worked. A service that
   * ends every session at once is retried with increasing waits. Returns null when it is time to give
   * up.
   */
  waitMsAfterHandover(): number | null {
    return this.#takeSessionWorked() ? 0 : this.#nextWaitMs(null);
  }

  /** After `getSession` failed. Returns null when a retry cannot help or it is time to give up. */
  waitMsAfterError(error: unknown): number | null {
    const { retryable, retryAfterMs } = isRecord(error) ? error : {};
    if (retryable === undefined) this.#unknownErrors += 1;
    else if (retryable !== true) return null;
    if (this.#unknownErrors > UNKNOWN_ERRORS_MAX) return null;
    return this.#nextWaitMs(typeof retryAfterMs === 'number' ? retryAfterMs : null);
  }

  #takeSessionWorked(): boolean {
    const worked = this.#sessionWorked;
    this.#sessionWorked = false;
    return worked;
  }

  /** `leastMs`: unless the service says when to ask again. */
  #nextWaitMs(retryAfterMs: number | null, leastMs = 0): number | null {
    const now = performance.now();
    this.#failingSince ??= now;
    const leftMs = (this.#wasReady ? GIVE_UP_MS : GIVE_UP_FIRST_MS) - (now - this.#failingSince);
    if (leftMs <= 0) return null;
    let waitMs = pacedMs(Math.max(leastMs, retryAfterMs ?? 0), Math.random);
    if (!isPaced(retryAfterMs)) {
      waitMs = Math.max(waitMs, backoffMs(this.#failures, Math.random));
      this.#failures += 1;
    }
    // A longer Retry-After still gets one last attempt, at the give-up time.
    return Math.min(waitMs, leftMs);
  }
}
