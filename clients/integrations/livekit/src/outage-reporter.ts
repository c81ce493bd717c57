import type { SvcError } from '@svc-asr/sdk';
import type { SvcStream } from '@svc-asr/sdk/stream';
import { lostSession, noAnswer } from './speech-events.ts';

interface OutageEvents {
  /** There is no session, and the stream tries again. No audio is lost meanwhile. */
  readonly onOutage: (error: SvcError) => void;
  /** A session is ready again. */
  readonly onRecovery: (outageMs: number) => void;
}

/** How long the first session may take before that is reported. */
const FIRST_SESSION_MS = 3_000;

/**
 * Reports when a stream has no session: at once when it lost one, after each refused attempt, and when the first session
 * takes too long. Sessions that end by plan (audio limit, long silence) are no outage.
 */
export class OutageReporter {
  readonly #events: OutageEvents;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #since: number | null = null;

  constructor(events: OutageEvents) {
    this.#events = events;
  }

  follow(stream: SvcStream): void {
    const startedAt = performance.now();
    this.#timer = setTimeout(() => this.#onOutage(noAnswer(), startedAt), FIRST_SESSION_MS);
    stream.on('reconnecting', ({ why, close }) => {
      if (why === 'failover') this.#onOutage(lostSession(close));
    });
    stream.on('waiting', ({ error }) => this.#onOutage(error));
    stream.on('ready', () => this.#onReady());
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#since = null;
  }

  #onOutage(error: SvcError, since = performance.now()): void {
    clearTimeout(this.#timer);
    this.#since ??= since;
    this.#events.onOutage(error);
  }

  #onReady(): void {
    clearTimeout(this.#timer);
    if (this.#since === null) return;
    const outageMs = performance.now() - this.#since;
    this.#since = null;
    this.#events.onRecovery(outageMs);
  }
}
