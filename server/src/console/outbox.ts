import type { Letter } from './letters.ts';
import type { Mailer } from './mailer.ts';

const WAITING_MAX = 200;
const TRIES = 3;

/**
 * Letters with sign-in codes, sent off the path of the request: how long the mail server takes must not tell whether
 * an address is known. They live in memory alone, because a code is worth nothing after ten minutes.
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

  /** False: too many are waiting already; the mail server is slow or away. */
  post(letter: Letter): boolean {
    if (this.#waiting >= WAITING_MAX) return false;
    this.#waiting += 1;
    this.#last = this.#last
      .then(() => this.#deliver(letter))
      .finally(() => {
        this.#waiting -= 1;
      });
    return true;
  }

  /** Resolves when everything posted so far was sent or given up. */
  idle(): Promise<void> {
    return this.#last;
  }

  async #deliver(letter: Letter): Promise<void> {
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      try {
        return await this.#mailer.send(letter);
      } catch (error) {
        if (attempt === TRIES) this.#onLost(error);
      }
    }
  }
}
