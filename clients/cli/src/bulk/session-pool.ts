import { SvcError, type AsrSession, type RateLimit } from '@svc-asr/sdk';
import type { SessionRequest } from '@svc-asr/sdk/stream';

export interface PoolOptions {
  /** Creates a session without retries. */
  readonly createOnce: (signal: AbortSignal) => Promise<AsrSession>;
  /** Creates a session and waits as long as the service asks. */
  readonly createPatiently: (signal: AbortSignal) => Promise<AsrSession>;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => number;
}

/** The account has no room for this worker: other workers of this run hold its sessions or its credit. */
export const NO_ROOM = 'no_room_for_worker';

const SHARED_LIMITS = new Set(['concurrency_limit_exceeded', 'insufficient_credits']);

/**
 * Creates the sessions of all workers, one at a time, at the pace of the service's RateLimit header. A
 * worker without a session stops, and the others take over its files.
 */
export class SessionPool {
  readonly #options: PoolOptions;
  readonly #workers = new Set<object>();
  #notBefore = -Infinity;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  onRateLimit(limit: RateLimit): void {
    if (limit.remaining === 0) this.#notBefore = this.#options.now() + limit.resetMs;
  }

  /** `onWait` is called with the refusal if the session has to be waited for. */
  async create(
    worker: object,
    { why, signal }: SessionRequest,
    onWait: (refusal: SvcError) => void,
  ): Promise<AsrSession> {
    const before = this.#turn;
    let endTurn: (() => void) | undefined;
    this.#turn = new Promise<void>((resolve) => (endTurn = resolve));
    this.#workers.add(worker);
    try {
      await before;
      await this.#pace(signal);
      return await this.#options.createOnce(signal).catch((error: unknown) => {
        if (!(error instanceof SvcError)) throw error;
        if (why === 'first' && this.#isCausedByOthers(error)) {
          this.#workers.delete(worker);
          throw new SvcError({ code: NO_ROOM, message: error.message, retryable: false });
        }
        if (!error.retryable) throw error;
        onWait(error);
        return this.#options.createPatiently(signal);
      });
    } finally {
      endTurn?.();
    }
  }

  /** The worker's stream has ended. */
  release(worker: object): void {
    this.#workers.delete(worker);
  }

  #isCausedByOthers(error: SvcError): boolean {
    return this.#workers.size > 1 && SHARED_LIMITS.has(error.code);
  }

  async #pace(signal: AbortSignal): Promise<void> {
    const waitMs = this.#notBefore - this.#options.now();
    if (waitMs > 0) await this.#options.sleep(waitMs, signal);
  }
}
