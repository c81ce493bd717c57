/** Limits concurrent replays per recogniser. The others wait in order. */
export class ReplayLimiter {
  readonly #limit: number;
  readonly #queues = new Map<string, { running: number; waiting: (() => void)[] }>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits for a free replay slot and returns a function that releases it. */
  async enter(recogniser: string): Promise<() => void> {
    const queue = this.#queues.get(recogniser) ?? { running: 0, waiting: [] };
    this.#queues.set(recogniser, queue);
    if (queue.running < this.#limit) queue.running += 1;
    else await new Promise<void>((resolve) => queue.waiting.push(resolve));
    return () => {
      const next = queue.waiting.shift();
      if (next !== undefined) return next();
      queue.running -= 1;
      if (queue.running === 0) this.#queues.delete(recogniser);
    };
  }
}
