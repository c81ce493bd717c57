import type { SvcError } from './errors.ts';

/** Retry rules as pure functions. */

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
/** A server that stays silent is not overloaded for a moment. Each further attempt would cost a whole timeout. */
const TIMEOUT_RETRIES_MAX = 2;
/** A shorter wait would let a client ask all the time. */
export const PACED_MS_MIN = 1_000;

/** Exponential backoff. Half of it is random, so that clients cut off together don't reconnect together. */
export function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
  return full / 2 + (full / 2) * random();
}

export interface RetryState {
  /** How many attempts have failed. */
  readonly failures: number;
  /** How many of those before the last were answered with `Retry-After`. */
  readonly paced?: number;
  readonly waitedMs: number;
  /** The session that blocks the caller may be its own, which was closed a moment ago. */
  readonly hasJustClosed?: boolean;
}

export interface RetryLimits {
  readonly retriesMax: number;
  readonly waitMsMax: number;
}

/** Returns the wait before the next attempt, or null to throw the error. */
export function retryWaitMs(
  error: SvcError,
  state: RetryState,
  limits: RetryLimits,
  random: () => number,
): number | null {
  const silent = error.code === 'timeout';
  const retriesMax = silent ? Math.min(limits.retriesMax, TIMEOUT_RETRIES_MAX) : limits.retriesMax;
  if (!error.retryable || state.failures > retriesMax) return null;
  const isEarly = isBlocked(error) && state.hasJustClosed === true;
  const waitMs =
    isPaced(error.retryAfterMs) && !isEarly
      ? pacedMs(error.retryAfterMs, random)
      : Math.max(
          isEarly ? 0 : (error.retryAfterMs ?? 0),
          backoffMs(state.failures - 1 - (state.paced ?? 0), random),
        );
  return state.waitedMs + waitMs > limits.waitMsMax ? null : waitMs;
}

/**
 * A caller that closes a session and creates the next one at once can be blocked by its own session for a few
 * milliseconds. `Retry-After` assumes another client's session, so the first retry comes early.
 */
export function isBlocked({ code }: SvcError): boolean {
  return code === 'concurrency_limit_exceeded';
}

/** The service says when to ask again, so its answer doesn't grow the client's own backoff. */
export function isPaced(retryAfterMs: number | null): retryAfterMs is number {
  return retryAfterMs !== null && retryAfterMs >= PACED_MS_MIN;
}

/** Never before `Retry-After`, and up to a tenth later. */
export function pacedMs(retryAfterMs: number, random: () => number): number {
  return retryAfterMs * (1 + 0.1 * random());
}

export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
