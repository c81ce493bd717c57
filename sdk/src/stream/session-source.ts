import type { AsrSession } from '@svc-asr/protocol';
import { isSession } from '../answers.ts';
import { wait } from '../retry.ts';
import type { Failover } from './failover.ts';
import { failure, quiet } from './failures.ts';
import type { SessionRequest, StreamOptions } from './options.ts';

/** Where sessions come from: the one that was given, then the caller's `getSession`, asked until it brings one. */
export class SessionSource {
  readonly #options: StreamOptions;
  readonly #failover: Failover;

  constructor(options: StreamOptions, failover: Failover) {
    if (options.session === undefined && options.getSession === undefined) {
      throw failure('missing_session', 'Give openStream a session, or getSession.');
    }
    this.#options = options;
    this.#failover = failover;
  }

  /** Whether there can be a session after this one. */
  get hasMore(): boolean {
    return this.#options.getSession !== undefined;
  }

  async next({ why, signal }: SessionRequest): Promise<AsrSession> {
    const { session, getSession } = this.#options;
    if (why === 'first' && session !== undefined) return checked(session);
    if (getSession === undefined) throw failure('session_over', 'The session is over.');
    for (;;) {
      try {
        return checked(await Promise.race([getSession({ why, signal }), aborted(signal)]));
      } catch (error) {
        if (signal.aborted) throw error;
        const waitMs = this.#failover.waitMsAfterError(error);
        if (waitMs === null) throw error;
        await wait(waitMs, signal);
      }
    }
  }
}

/** Callers in JavaScript hand over whatever their server answered. */
function checked(session: AsrSession): AsrSession {
  if (isSession(session)) return session;
  throw failure(
    'invalid_session',
    'That is no session. Hand over its JSON as the service gave it.',
  );
}

function aborted(signal: AbortSignal): Promise<never> {
  return quiet(
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  );
}
