import { AUDIO, LIMITS } from '@svc-asr/protocol/constants.ts';
import type { SvcError } from '../errors.ts';
import { failure, quiet } from './failures.ts';
import type { Tape } from './tape.ts';
import { Waiters } from './waiters.ts';

const BYTES_PER_SECOND = AUDIO.sampleRateHz * AUDIO.bytesPerSample;
/** A write is done while no more than this is unsent. */
const WAITING_BYTES_MAX = 5 * BYTES_PER_SECOND;
/** For those who do not wait. */
const QUEUE_BYTES_MAX = LIMITS.audioSecondsMax * BYTES_PER_SECOND;

/** Where audio goes onto the tape. Whoever waits for it keeps the service's pace. */
export class Intake {
  readonly #tape: Tape;
  readonly #writers = new Waiters<void>();
  readonly #onWritten: () => void;
  #writes = 0;

  constructor(tape: Tape, onWritten: () => void) {
    this.#tape = tape;
    this.#onWritten = onWritten;
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.#tape.unsentBytes + bytes.byteLength > QUEUE_BYTES_MAX) {
      const message = 'Five minutes of audio are waiting already. Await write() before the next.';
      return quiet(Promise.reject(failure('queue_full', message)));
    }
    this.#tape.write(bytes);
    this.#onWritten();
    if (this.#tape.unsentBytes <= WAITING_BYTES_MAX) return Promise.resolve();
    this.#writes += 1;
    return this.#writers.wait(this.#writes);
  }

  /** Some of the tape was sent, or forgotten. */
  onSent(): void {
    if (this.#tape.unsentBytes <= WAITING_BYTES_MAX) this.#writers.resolveAll();
  }

  end(error: SvcError): void {
    this.#writers.rejectAll(error);
  }
}
