import { randomInt } from 'node:crypto';
import { sleep } from '../../platform/sleep.ts';
import type { Email } from './texts.ts';
import type { Mailer } from './mailer.ts';

const WAITING_MAX = 200;
const ATTEMPTS = 3;

const DELAY_MS_MIN = 50;
/** Up to this long before an email is sent, at random. */
const DELAY_MS_MAX = 300;

/**
 * Sends emails in the background after a random delay, so that neither the response time nor the load
 * after it reveals whether an address is known. The queue is in memory only, because a sign-in code is
 * useless after ten minutes.
 */
export class Outbox {
  readonly #mailer: Mailer;
  readonly #onLost: (error: unknown) => void;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(mailer: Mailer, onLost: (error: unknown) => void) {
    this.#mailer = mailer;
    this.#onLost = onLost;
  }

  /** Returns false, and reports the loss, when the queue is full because the mail server is slow or unreachable. */
  enqueue(email: Email): boolean {
    if (this.#waiting >= WAITING_MAX) {
      this.#onLost(new Error(`The email queue is full: ${WAITING_MAX} emails wait already.`));
      return false;
    }
    this.#waiting += 1;
    const due = sleep(DELAY_MS_MIN + randomInt(DELAY_MS_MAX - DELAY_MS_MIN));
    this.#last = Promise.all([this.#last, due])
      .then(() => this.#deliver(email))
      .finally(() => {
        this.#waiting -= 1;
      });
    return true;
  }

  /** Resolves when every queued email has been sent or abandoned. */
  idle(): Promise<void> {
    return this.#last;
  }

  async #deliver(email: Email): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      try {
        return await this.#mailer.send(email);
      } catch (error) {
        if (attempt === ATTEMPTS) this.#onLost(error);
      }
    }
  }
}
