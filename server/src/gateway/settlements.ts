import type { CloseInput } from '../ledger/ledger.ts';

export interface SettlementsInput {
  /** Writes one; rejects when the database cannot be reached. A second writing of the same one changes nothing. */
  readonly write: (settlement: CloseInput) => Promise<void>;
  readonly onLost: (settlement: CloseInput) => void;
}

/** More than a node can have had streams. Beyond it the sweeper fails the session, unbilled. */
const WAITING_MAX = 10_000;
const AT_ONCE = 8;
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 1_000;

/** The database answered, and will answer the same every time: no data, bad value, broken rule, no right, wrong state. */
const REFUSALS = /^(02|22|23|42|P0|55000)/;

interface Waiting {
  readonly settlement: CloseInput;
  readonly done: () => void;
}

/**
 * Streams go on while the database is away, and end too: their settlements wait here, in memory, until it is back.
 * A process that dies with some of them bills nothing for them.
 */
export class Settlements {
  readonly #input: SettlementsInput;
  #waiting: Waiting[] = [];
  #retrying: Promise<void> | null = null;
  #wake: (() => void) | null = null;
  #stopped = false;

  constructor(input: SettlementsInput) {
    this.#input = input;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves once the database has it, however long that takes. */
  async settle(settlement: CloseInput): Promise<void> {
    if (await this.#attempt(settlement)) return;
    if (this.#waiting.length >= WAITING_MAX || this.#stopped) {
      this.#input.onLost(settlement);
      return;
    }
    await new Promise<void>((done) => {
      this.#waiting.push({ settlement, done });
      this.#retrying ??= this.#retry();
    });
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    await this.#retrying;
  }

  /** What still waits is given up. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.#retrying;
    for (const { settlement, done } of this.#waiting) {
      this.#input.onLost(settlement);
      done();
    }
    this.#waiting = [];
  }

  async #retry(): Promise<void> {
    let pauseMs = PAUSE_MIN_MS;
    while (this.#waiting.length > 0 && !this.#stopped) {
      await this.#pause(pauseMs);
      const batch = this.#waiting.slice(0, AT_ONCE);
      const written = await Promise.all(batch.map(({ settlement }) => this.#attempt(settlement)));
      const isAnyWritten = written.includes(true);
      pauseMs = isAnyWritten ? 0 : Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, pauseMs * 2));
      const over = new Set(batch.filter((_, at) => written[at]));
      this.#waiting = this.#waiting.filter((entry) => !over.has(entry));
      for (const entry of over) entry.done();
    }
    this.#retrying = null;
  }

  /** True: nothing more is to be done about it. */
  async #attempt(settlement: CloseInput): Promise<boolean> {
    try {
      await this.#input.write(settlement);
      return true;
    } catch (error) {
      if (!isRefusal(error)) return false;
      this.#input.onLost(settlement);
      return true;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && REFUSALS.test(code);
}
