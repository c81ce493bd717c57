import type { AsrSession } from '@svc-asr/protocol';
import { lostKey, lostToken } from '@svc-asr/protocol/lost-host.ts';
import { isSession } from '../response-guards.ts';
import { randomKey } from '../random-key.ts';
import { wait } from '../retry.ts';
import { billed, isNodeLost, type CloseInfo } from './close-info.ts';
import type { StreamEvents } from './events.ts';
import type { Failover } from './failover.ts';
import { failure, ignoreRejection, toSvcError } from './stream-errors.ts';
import type { GetSession, SessionRequest, StreamOptions } from './options.ts';
import { forgetSession } from './unused-keys.ts';
import { ANOTHER_MS_MAX, CONTINUES_MAX, GET_SESSION_MS_MAX, UNUSED_MS_MAX } from './limits.ts';

/** Provides sessions: first the given one, then those of the caller's `getSession`, with retries. */
export class SessionSource {
  readonly #options: StreamOptions;
  readonly #failover: Failover;
  readonly #events: StreamEvents;
  /** When each session was received. */
  readonly #receivedAt = new WeakMap<AsrSession, number>();
  #unused: AsrSession | null = null;
  /** Of a request that was given up. Its session may have been created, so the next request asks for the same. */
  #unansweredKey: string | null = null;
  /** The session whose node did not answer last. */
  #lost: AsrSession | null = null;
  #continues: readonly string[] = [];

  constructor(options: StreamOptions, failover: Failover, events: StreamEvents) {
    if (options.session === undefined && options.getSession === undefined) {
      throw failure('missing_session', 'Pass a session or getSession.');
    }
    this.#options = options;
    this.#failover = failover;
    this.#events = events;
  }

  /** Whether another session can follow this one. */
  get hasMore(): boolean {
    return this.#options.getSession !== undefined;
  }

  /** Names the last sessions whose connection was lost, for a session that receives their audio again. */
  get continues(): readonly string[] {
    return this.#continues;
  }

  /** `isUnused`: the credential was not spent, because the socket did not open or the upgrade was refused for now. */
  onEnd(session: AsrSession, close: CloseInfo, isUnused: boolean): void {
    // The next request says so, and asks for another node.
    if (isNodeLost(close)) this.#lost = session;
    if (isUnused) {
      this.#unused = session;
      return;
    }
    forgetSession(session.id);
    if (billed(close) === 'unknown') {
      this.#continues = [...this.#continues, lostToken(session)].slice(-CONTINUES_MAX);
    }
  }

  async next(need: Pick<SessionRequest, 'why' | 'signal'>): Promise<AsrSession> {
    const { session, getSession } = this.#options;
    const { why, signal } = need;
    if (why === 'first' && session !== undefined) return checked(session);
    if (getSession === undefined) throw failure('session_over', 'The session is over.');
    const request = { ...need, idempotencyKey: this.#unansweredKey ?? this.#newKey() };
    for (;;) {
      const unused = this.#freshUnused();
      const waitMsMax = unused === null ? GET_SESSION_MS_MAX : ANOTHER_MS_MAX;
      try {
        const received = checked(await withinLimits(getSession, request, waitMsMax));
        this.#receivedAt.set(received, performance.now());
        this.#unansweredKey = null;
        this.#lost = null;
        return received;
      } catch (error) {
        if (signal.aborted) throw error;
        // Its own unused session is the one that blocks this account, so the stream tries it once more.
        if (unused !== null && isBlocked(error)) {
          this.#unused = null;
          this.#unansweredKey = request.idempotencyKey;
          return unused;
        }
        const waitMs = this.#failover.waitMsAfterError(error);
        if (waitMs === null) throw error;
        this.#events.emit({ type: 'waiting', why, error: toSvcError(error), waitMs });
        await wait(waitMs, signal);
      }
    }
  }

  #newKey(): string {
    return this.#lost === null ? randomKey() : lostKey(randomKey(), this.#lost);
  }

  /** The unused session, if its credential is still valid. */
  #freshUnused(): AsrSession | null {
    const unused = this.#unused;
    if (unused === null) return null;
    const ageMs = performance.now() - (this.#receivedAt.get(unused) ?? -Infinity);
    return ageMs < UNUSED_MS_MAX ? unused : null;
  }
}

function isBlocked(error: unknown): boolean {
  const { code } = toSvcError(error);
  return code === 'concurrency_limit_exceeded' || code === 'get_session_timeout';
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
async function withinLimits(
  getSession: GetSession,
  request: SessionRequest,
  waitMsMax: number,
): Promise<AsrSession> {
  const limits = new AbortController();
  const { signal } = limits;
  const stop = (): void => limits.abort(request.signal.reason);
  const timer = setTimeout(() => {
    limits.abort(failure('get_session_timeout', 'getSession took too long.'));
  }, waitMsMax);
  request.signal.addEventListener('abort', stop);
  // If getSession throws synchronously, nothing else handles this rejection.
  const aborted = ignoreRejection(
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    }),
  );
  try {
    return await Promise.race([getSession({ ...request, signal }), aborted]);
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener('abort', stop);
  }
}
