import type { CloseInfo } from './close-info.ts';
import { backoffMs, isPaced, PACED_MS_MIN, pacedMs } from '../retry.ts';

/** A session this old proves that the trouble is over. Shorter ones don't reset the backoff. */
const STABLE_MS = 5_000;
/** Give up after this long without a final or a stable session: the same audio would be replayed forever. */
const GIVE_UP_MS = 120_000;
/** Before the first `ready` no audio can be lost, so the stream fails sooner. Longer than most outages of a network or database. */
const GIVE_UP_FIRST_MS = 45_000;
/** Errors without a `retryable` field are retried this often. */
const UNKNOWN_ERRORS_MAX = 3;
/** The service is restarting, busy or over a rate limit: never reconnect at once. */
const PACED_CODES: ReadonlySet<number> = new Set([1013, 4429, 4503]);
/** The first retry comes within this time, because a lost node or network interrupts many streams at one moment. */
const FIRST_MS_MAX = { lost: 2_000, ended: 500 };
/** The connection broke, without a word of the service. */
const LOST_CODE = 1006;

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

  /** Returns null when it is time to give up. After a stable session the first retry comes soon. */
  waitMsAfterClose(close: CloseInfo): number | null {
    this.#takeSessionWorked();
    const isBusy = PACED_CODES.has(close.code);
    const isFirst = this.#failures === 0 && !isBusy && !isPaced(close);
    const waitMs = this.#nextWaitMs(close.retryAfterMs, isBusy ? PACED_MS_MIN : 0);
    if (!isFirst || waitMs === null) return waitMs;
    return FIRST_MS_MAX[close.code === LOST_CODE ? 'lost' : 'ended'] * Math.random();
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
    const retryable = retryableField(error);
    if (retryable === null) this.#unknownErrors += 1;
    if (retryable === false || this.#unknownErrors > UNKNOWN_ERRORS_MAX) return null;
    return this.#nextWaitMs(retryAfterMs(error));
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
    const answer = { retryAfterMs };
    const waitMs = isPaced(answer)
      ? pacedMs(answer.retryAfterMs, Math.random)
      : Math.max(
          pacedMs(Math.max(leastMs, retryAfterMs ?? 0), Math.random),
          backoffMs(this.#failures, Math.random),
        );
    if (!isPaced(answer)) this.#failures += 1;
    // A longer Retry-After still gets one last attempt, at the give-up time.
    return Math.min(waitMs, leftMs);
  }
}

function retryableField(error: unknown): boolean | null {
  if (typeof error !== 'object' || error === null || !('retryable' in error)) return null;
  return error.retryable === true;
}

function retryAfterMs(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('retryAfterMs' in error)) return null;
  return typeof error.retryAfterMs === 'number' ? error.retryAfterMs : null;
}
