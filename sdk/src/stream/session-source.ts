import type { AsrSession } from '@svc-asr/protocol';
import { isSession } from '../response-guards.ts';
import { wait } from '../retry.ts';
import type { WaitingEvent } from './events.ts';
import type { Failover } from './failover.ts';
import { failure, ignoreRejection, toSvcError } from './stream-errors.ts';
import type { GetSession, SessionRequest, StreamOptions } from './options.ts';

/** One call of `getSession` may take this long: `SvcClient` itself waits for up to 90 s. */
const GET_SESSION_MS_MAX = 120_000;

/** Provides sessions: first the given one, then those of the caller's `getSession`, with retries. */
export class SessionSource {
  readonly #options: StreamOptions;
  readonly #failover: Failover;
  readonly #onWaiting: (event: WaitingEvent) => void;

  constructor(
    options: StreamOptions,
    failover: Failover,
    onWaiting: (event: WaitingEvent) => void,
  ) {
    if (options.session === undefined && options.getSession === undefined) {
      throw failure('missing_session', 'Pass a session or getSession to openStream.');
    }
    this.#options = options;
    this.#failover = failover;
    this.#onWaiting = onWaiting;
  }

  /** Whether another session can follow this one. */
  get hasMore(): boolean {
    return this.#options.getSession !== undefined;
  }

  async next(request: SessionRequest): Promise<AsrSession> {
    const { session, getSession } = this.#options;
    const { why, signal } = request;
    if (why === 'first' && session !== undefined) return checked(session);
    if (getSession === undefined) throw failure('session_over', 'The session is over.');
    for (;;) {
      try {
        return checked(await withinLimits(getSession, request));
      } catch (error) {
        if (signal.aborted) throw error;
        const waitMs = this.#failover.waitMsAfterError(error);
        if (waitMs === null) throw error;
        this.#onWaiting({ type: 'waiting', why, error: toSvcError(error), waitMs });
        await wait(waitMs, signal);
      }
    }
  }
}

/** Checks the shape at run time: JavaScript callers pass on whatever their server returned. */
function checked(session: AsrSession): AsrSession {
  if (isSession(session)) return session;
  throw failure(
    'invalid_session',
    'getSession did not return a session. Return the JSON of POST /v1/asr/sessions unchanged.',
  );
}

/** Ends with the stream, and after a time limit: a `getSession` that hangs must not hang the stream. */
async function withinLimits(getSession: GetSession, request: SessionRequest): Promise<AsrSession> {
  const { signal } = request;
  const over = new AbortController();
  const limits = AbortSignal.any([signal, over.signal]);
  const late = failure('get_session_timeout', 'getSession did not settle within 120 s.');
  const timer = setTimeout(() => over.abort(late), GET_SESSION_MS_MAX);
  const aborted = new Promise<never>((_, reject) => {
    limits.addEventListener('abort', () => reject(limits.reason), { once: true });
  });
  // If getSession throws synchronously, nothing else handles this rejection.
  void ignoreRejection(aborted);
  try {
    return await Promise.race([getSession({ ...request, signal: limits }), aborted]);
  } finally {
    clearTimeout(timer);
  }
}
