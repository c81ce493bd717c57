import type { Answer, Call, LedgerDatabase, Snapshot } from './database.ts';

/** What the simulator did to its database, in order. */
export type Recorded =
  | {
      readonly do: 'call';
      readonly nowMs: number;
      readonly call: Call;
      readonly answer: Outcome;
    }
  | { readonly do: 'restart'; readonly nowMs: number }
  /** Rolled back to the state after the first `kept` entries. */
  | { readonly do: 'restore'; readonly kept: number };

export type Outcome =
  | { readonly rows: Answer['rows']; readonly rowCount: number }
  | { readonly error: string };

/** Records every call of a database with its answer, so that another database can be asked the same. */
export class RecordingLedger implements LedgerDatabase {
  readonly #inner: LedgerDatabase;
  readonly #nowMs: () => number;
  #recorded: Recorded[] = [];

  constructor(inner: LedgerDatabase, nowMs: () => number) {
    this.#inner = inner;
    this.#nowMs = nowMs;
    this.#recorded = [this.#restarted()];
  }

  get recorded(): readonly Recorded[] {
    return this.#recorded;
  }

  async run(call: Call): Promise<Answer> {
    const at = { nowMs: Math.floor(this.#nowMs()), call: structuredClone(call) };
    // Reserved now, because answers of a real database arrive later than those of a model.
    const place = this.#recorded.push({ do: 'call', ...at, answer: { error: 'unanswered' } }) - 1;
    const settle = (answer: Outcome): void => {
      this.#recorded[place] = { do: 'call', ...at, answer };
    };
    try {
      const answer = await this.#inner.run(call);
      settle({ rows: structuredClone(answer.rows), rowCount: answer.rowCount });
      return answer;
    } catch (error) {
      settle({ error: errorCode(error) });
      throw error;
    }
  }

  snapshot(): Snapshot {
    return { kept: { inner: this.#inner.snapshot(), length: this.#recorded.length } };
  }

  restore({ kept }: Snapshot): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by snapshot()
    const { inner, length } = kept as { inner: Snapshot; length: number };
    this.#inner.restore(inner);
    this.#recorded.push({ do: 'restore', kept: length });
  }

  restart(): void {
    this.#inner.restart();
    this.#recorded.push(this.#restarted());
  }

  reset(): void {
    this.#inner.reset();
    this.#recorded = [this.#restarted()];
  }

  violations(): Promise<string[]> {
    return this.#inner.violations();
  }

  liveSessions(): Promise<number> {
    return this.#inner.liveSessions();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #restarted(): Recorded {
    return { do: 'restart', nowMs: Math.floor(this.#nowMs()) };
  }
}

/** The SQLSTATE, or the message of an error that is none of the database's. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
