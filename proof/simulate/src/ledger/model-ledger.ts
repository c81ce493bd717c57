import type { Call, LedgerDatabase, Snapshot } from './database.ts';
import { emptyLedger, type LedgerState } from './model/state.ts';
import { answerCall } from './model/statements.ts';

export interface ModelLedgerInput {
  /** The database's clock. */
  readonly nowMs: () => number;
}

/** The ledger as plain TypeScript, for speed. Its answers are held to the SQL by `equivalence.ts`. */
export class ModelLedger implements LedgerDatabase {
  readonly #input: ModelLedgerInput;
  #state: LedgerState = emptyLedger();
  #startedAtMs: number;

  constructor(input: ModelLedgerInput) {
    this.#input = input;
    this.#startedAtMs = this.#now();
  }

  get state(): LedgerState {
    return this.#state;
  }

  // Async, so that an error rejects instead of being thrown.
  async run(call: Call): ReturnType<LedgerDatabase['run']> {
    const moment = { state: this.#state, nowMs: this.#now(), startedAtMs: this.#startedAtMs };
    return answerCall(moment, call);
  }

  snapshot(): Snapshot {
    return { kept: structuredClone(this.#state) };
  }

  restore({ kept }: Snapshot): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by snapshot()
    this.#state = structuredClone(kept) as LedgerState;
  }

  restart(): void {
    this.#startedAtMs = this.#now();
  }

  reset(): void {
    this.#state = emptyLedger();
    this.restart();
  }

  /** None: the audit is SQL. `equivalence.test.ts` runs it on the rows of random calls. */
  async violations(): Promise<string[]> {
    return [];
  }

  async liveSessions(): Promise<number> {
    return this.#state.live.size;
  }

  async close(): Promise<void> {}

  /** Whole milliseconds. The server reads no finer times from the database. */
  #now(): number {
    return Math.floor(this.#input.nowMs());
  }
}
