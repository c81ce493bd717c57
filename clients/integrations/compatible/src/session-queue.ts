import { randomUUID } from 'node:crypto';
import { SvcError, type AsrSession, type ModelId, type SvcClient } from '@svc-asr/sdk';
import { openStream, type SessionRequest } from '@svc-asr/sdk/stream';
import { endStream, watchReady } from './end-stream.ts';

const AUDIO_SECONDS = 300;
const POLL_MS = { least: 250, most: 1_000 } as const;
/** How long to believe that our own streams use up the account's limit. The operator may raise it. */
const FULL_MS = 30_000;

interface Waiter {
  wake: () => void;
}

/**
 * Creates the sessions of one API key. An account has one session at a time by default, and clients reconnect before
 * their old connection is gone. So a request that finds the account at its limit waits its turn, in order of arrival.
 */
export class SessionQueue {
  readonly #waitMsMax: number;
  readonly #onWaiting: () => void;
  readonly #waiters: Waiter[] = [];
  #streams = 0;
  /** The service refused a session while this many of our streams were open. */
  #full: { readonly streams: number; readonly untilMs: number } | null = null;

  constructor(options: { readonly waitMsMax: number; readonly onWaiting: () => void }) {
    this.#waitMsMax = options.waitMsMax;
    this.#onWaiting = options.onWaiting;
  }

  get isIdle(): boolean {
    return this.#streams === 0 && this.#waiters.length === 0;
  }

  onStreamOpened(): void {
    this.#streams += 1;
  }

  onStreamClosed(): void {
    this.#streams -= 1;
    this.#full = null;
    this.#waiters[0]?.wake();
  }

  /** The first session of a stream. Throws the service's refusal, or the last one after the longest wait. */
  async reserveFirst(input: {
    readonly client: SvcClient;
    readonly model: ModelId;
    readonly signal: AbortSignal;
  }): Promise<AsrSession> {
    const { signal } = input;
    const deadlineMs = performance.now() + this.#waitMsMax;
    // One key for all attempts: a retry after a lost response must find the first reservation.
    const attempt = { ...input, idempotencyKey: randomUUID() };
    const waiter: Waiter = { wake: () => undefined };
    const isFirst = (): boolean => this.#waiters.length === 0 || this.#waiters[0] === waiter;
    let refusal: SvcError = AT_LIMIT;
    try {
      for (;;) {
        signal.throwIfAborted();
        if (isFirst() && !this.#isKnownToBeFull()) {
          const result = await this.#attempt(attempt);
          if (!(result instanceof SvcError)) return result;
          if (!result.retryable) throw result;
          refusal = result;
        }
        const leftMs = deadlineMs - performance.now();
        const waitMs = pollMs(refusal);
        if (leftMs <= 0 || (waitMs > leftMs && !isLimit(refusal))) throw refusal;
        if (!this.#waiters.includes(waiter)) {
          this.#waiters.push(waiter);
          this.#onWaiting();
        }
        await this.#untilChange(waiter, Math.min(waitMs, leftMs), signal);
      }
    } finally {
      const at = this.#waiters.indexOf(waiter);
      if (at !== -1) this.#waiters.splice(at, 1);
      this.#waiters[0]?.wake();
    }
  }

  /** A later session of an open stream. It doesn't queue: the stream has its turn already. */
  async reserveNext(input: {
    readonly client: SvcClient;
    readonly model: ModelId;
    readonly request: SessionRequest;
  }): Promise<AsrSession> {
    const { client, model } = input;
    const { signal, idempotencyKey } = input.request;
    try {
      return await client.sessions.create(
        { model, maxAudioSeconds: AUDIO_SECONDS },
        { signal, idempotencyKey },
      );
    } catch (error) {
      // The stream waits as long as Retry-After says, but another session may end at any moment.
      if (!(error instanceof SvcError) || !isLimit(error)) throw error;
      const { code, message, status, type, requestId } = error;
      throw new SvcError({
        code,
        message,
        status,
        type,
        requestId,
        retryable: true,
        retryAfterMs: POLL_MS.most,
      });
    }
  }

  async #attempt(input: {
    readonly client: SvcClient;
    readonly model: ModelId;
    readonly signal: AbortSignal;
    readonly idempotencyKey: string;
  }): Promise<AsrSession | SvcError> {
    const { client, model, signal, idempotencyKey } = input;
    try {
      // Not cancelled when the client leaves: the session might exist, and then it must be released.
      const session = await client.sessions.create(
        { model, maxAudioSeconds: AUDIO_SECONDS },
        { idempotencyKey },
      );
      if (signal.aborted) release(session);
      signal.throwIfAborted();
      this.#full = null;
      return session;
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      if (isLimit(error) && this.#streams > 0) {
        this.#full = { streams: this.#streams, untilMs: performance.now() + FULL_MS };
      }
      return error;
    }
  }

  /**
   * While our own streams use up the limit, nobody else may try: between two sessions of a long stream the attempt would
   * succeed, and the stream would lose its place.
   */
  #isKnownToBeFull(): boolean {
    return (
      this.#full !== null &&
      this.#streams >= this.#full.streams &&
      performance.now() < this.#full.untilMs
    );
  }

  /** Ends early when a stream of this key has closed or the waiter before this one is gone. */
  async #untilChange(waiter: Waiter, ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const timer = setTimeout(wake, ms);
    waiter.wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
  }
}

const AT_LIMIT = new SvcError({
  code: 'concurrency_limit_exceeded',
  message:
    'This account already has an active ASR session. Wait for it to end, or ask the operator of the service for more ' +
    'sessions at once.',
  status: 429,
  retryable: true,
  retryAfterMs: POLL_MS.most,
});

function isLimit(error: SvcError): boolean {
  return error.code === 'concurrency_limit_exceeded';
}

/** Limits of sessions end when another one closes, which Retry-After can't know. Other waits are the service's. */
function pollMs(error: SvcError): number {
  if (isLimit(error)) return POLL_MS.most;
  return Math.max(POLL_MS.least, error.retryAfterMs ?? POLL_MS.least);
}

/** Opens and closes a session that nobody needs. Otherwise it stays reserved for a minute. */
function release(session: AsrSession): void {
  const stream = openStream({ session });
  watchReady(stream);
  void endStream(stream);
}
