/** Limits concurrent replays per recogniser. The others wait in order. */
export class ReplayLimiter {
  readonly #limit: number;
  readonly #gates = new Map<string, { inside: number; waiting: (() => void)[] }>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits for a free replay slot and returns a function that releases it. */
  async enter(recogniser: string): Promise<() => void> {
    const gate = this.#gates.get(recogniser) ?? { inside: 0, waiting: [] };
    this.#gates.set(recogniser, gate);
    if (gate.inside < this.#limit) gate.inside += 1;
    else await new Promise<void>((resolve) => gate.waiting.push(resolve));
    return () => {
      const next = gate.waiting.shift();
      if (next !== undefined) return next();
      gate.inside -= 1;
      if (gate.inside === 0) this.#gates.delete(recogniser);
    };
  }
}
