import { SvcError, type AsrSession } from '@svc-asr/sdk';

/**
 * How many sessions at once: as many as wished, until the service says that the account may not. Then it is as many as
 * were running at that moment, and the rest wait their turn here instead of asking again and again.
 */
export class Turns {
  #limit: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  async take(): Promise<void> {
    while (this.#taken >= this.#limit) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#taken += 1;
  }

  giveBack(): void {
    this.#taken -= 1;
    this.#waiting.shift()?.();
  }

  /** Refused for want of a place: true when others of ours hold the places, so it is worth waiting for them. */
  learn(): boolean {
    if (this.#taken < 2) return false;
    this.#limit = this.#taken - 1;
    return true;
  }
}

/** `create`, in turn: a refusal for concurrency sends the caller back to the end of the queue. */
export async function createInTurn(
  turns: Turns,
  create: (how: 'once' | 'patiently') => Promise<AsrSession>,
): Promise<AsrSession> {
  for (;;) {
    try {
      return await create('once');
    } catch (error) {
      const refused = error instanceof SvcError && error.code === 'concurrency_limit_exceeded';
      if (!refused) throw error;
      if (!turns.learn()) return create('patiently');
      turns.giveBack();
      await turns.take();
    }
  }
}
