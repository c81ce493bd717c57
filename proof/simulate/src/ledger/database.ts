import type { QueryConfig, QueryResultRow } from 'pg';
import type { Queryable } from '@svc-asr/server/platform/database/db.ts';

/** One statement as the server sends it. */
export interface Call {
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface Answer {
  readonly rows: QueryResultRow[];
  readonly rowCount: number;
}

/** A state of the database that it can be rolled back to. */
export type Snapshot = { readonly kept: unknown };

/** The database of a simulated service. Statements run one at a time, at the time of the database's own clock. */
export interface LedgerDatabase {
  run(call: Call): Promise<Answer>;
  snapshot(): Snapshot;
  /** Rolls back to an older state, as a restored backup does. */
  restore(snapshot: Snapshot): void;
  /** The server process was restarted or replaced. Its rows stay. */
  restart(): void;
  /** Empties the database for the next seed. */
  reset(): void;
  /** Checks the audit's invariants and returns one line per violation. */
  violations(): Promise<string[]>;
  /** Sessions that are reserved or active. */
  liveSessions(): Promise<number>;
  close(): Promise<void>;
}

/** Wraps a database as the seam through which all of the server's database calls go. */
export function asQueryable(run: (call: Call) => Promise<Answer>): Queryable {
  const query = (config: string | QueryConfig<unknown[]>, values?: unknown[]): Promise<Answer> =>
    run(
      typeof config === 'string'
        ? { text: config, values: values ?? [] }
        : { text: config.text, values: config.values ?? [] },
    );
  // The server only awaits rows and rowCount. The other overloads of pg are never used.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return { query } as unknown as Queryable;
}

/** An error as PostgreSQL raises it. */
export function databaseError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
