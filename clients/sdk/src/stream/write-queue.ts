import { AUDIO_SECONDS_MAX, BYTES_PER_SECOND } from '@svc-asr/protocol/constants.ts';
import type { SvcError } from '../errors.ts';
import { failure, ignoreRejection } from './stream-errors.ts';
import { PendingResults } from './pending-results.ts';
import type { ReplayBuffer } from './replay-buffer.ts';

/** `write()` resolves while at most this much is unsent. */
export const UNSENT_BYTES_MAX = 5 * BYTES_PER_SECOND;
/** Hard limit for callers that don't await `write()`. */
export const QUEUE_BYTES_MAX = AUDIO_SECONDS_MAX * BYTES_PER_SECOND;

/** Accepts audio into the replay buffer and applies back-pressure to callers that await `write()`. */
export class WriteQueue {
  readonly #buffer: ReplayBuffer;
  readonly #pending = new PendingResults<void>();
  readonly #onWritten: () => void;
  #writes = 0;

  constructor(buffer: ReplayBuffer, onWritten: () => void) {
    this.#buffer = buffer;
    this.#onWritten = onWritten;
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.#buffer.unsentBytes + bytes.byteLength > QUEUE_BYTES_MAX) {
      const message = 'Five minutes of audio are queued. Await each write().';
      return ignoreRejection(Promise.reject(failure('queue_full', message)));
    }
    this.#buffer.write(bytes);
    this.#onWritten();
    if (this.#buffer.unsentBytes <= UNSENT_BYTES_MAX) return Promise.resolve();
    this.#writes += 1;
    return this.#pending.wait(this.#writes);
  }

  /** Audio left the buffer: it was sent or reset. */
  onSent(): void {
    if (this.#buffer.unsentBytes <= UNSENT_BYTES_MAX) this.#pending.resolveAll();
  }

  end(error: SvcError): void {
    this.#pending.rejectAll(error);
  }
}
