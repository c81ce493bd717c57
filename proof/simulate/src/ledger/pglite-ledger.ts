import { PGlite } from '@electric-sql/pglite';
import { findViolations } from '@svc-asr/server/ledger/reports/audit.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { createAccount } from '@svc-asr/server/accounts/accounts.ts';
import type { Queryable } from '@svc-asr/server/platform/database/db.ts';
import { migrateOn } from '@svc-asr/server/platform/database/migrate.ts';
import {
  asQueryable,
  type Answer,
  type Call,
  type LedgerDatabase,
  type Snapshot,
} from './database.ts';
import { putImage, takeImage, type PgliteImage } from './pglite-memory.ts';
import { installClock, setClock, useClock } from './simulated-clock.ts';

/** PostgreSQL in WebAssembly with the real migrations and functions. It has one connection, so no two transactions overlap. */
export class PgliteLedger implements LedgerDatabase {
  readonly #db: PGlite;
  readonly #direct: Queryable;
  readonly #fresh: PgliteImage;
  #nowMs: () => number = Date.now;
  #startedAtMs = 0;
  /** The last call. The next one waits for it, so that each has the clock to itself. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(db: PGlite) {
    this.#db = db;
    this.#direct = directly(db);
    this.#fresh = takeImage(db);
  }

  /**
   * Starts and migrates it, and lets `prepare` change it. Call it before the clocks of this process become virtual: it
   * takes some seconds.
   */
  static async open(prepare?: (db: Queryable) => Promise<void>): Promise<PgliteLedger> {
    const db = await PGlite.create();
    const direct = directly(db);
    await migrateOn(direct, () => {});
    await prepare?.(direct);
    await installClock(direct);
    await useClock(direct);
    await warmUp(direct);
    return new PgliteLedger(db);
  }

  /** Empties it and gives it the clock of a run. */
  begin(nowMs: () => number): this {
    this.#nowMs = nowMs;
    this.reset();
    return this;
  }

  run(call: Call): Promise<Answer> {
    const nowMs = Math.floor(this.#nowMs());
    const startedAtMs = this.#startedAtMs;
    const answer = this.#last.then(async () => {
      await setClock(this.#direct, { nowMs, startedAtMs });
      return runOn(this.#db, call);
    });
    this.#last = answer.catch(() => {});
    return answer;
  }

  snapshot(): Snapshot {
    return { kept: takeImage(this.#db) };
  }

  restore({ kept }: Snapshot): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by snapshot()
    putImage(this.#db, kept as PgliteImage);
  }

  restart(): void {
    this.#startedAtMs = Math.floor(this.#nowMs());
  }

  reset(): void {
    putImage(this.#db, this.#fresh);
    this.restart();
  }

  violations(): Promise<string[]> {
    return findViolations(asQueryable((call) => this.run(call)));
  }

  async liveSessions(): Promise<number> {
    const text = 'select count(*)::integer as live from sessions where slot is not null';
    const { rows } = await this.run({ text, values: [] });
    return Number(rows[0]?.['live']);
  }

  async close(): Promise<void> {
    await this.#db.close();
  }
}

async function runOn(db: PGlite, { text, values }: Call): Promise<Answer> {
  if (values.length === 0 && text.includes(';')) {
    await db.exec(text);
    return { rows: [], rowCount: 0 };
  }
  const { rows, affectedRows } = await db.query<Record<string, unknown>>(text, [...values]);
  return { rows, rowCount: rows.length > 0 ? rows.length : (affectedRows ?? 0) };
}

function directly(db: PGlite): Queryable {
  return asQueryable((call) => runOn(db, call));
}

/** Loads caches and plans, so that they are part of the first image. */
async function warmUp(db: Queryable): Promise<void> {
  await setClock(db, { nowMs: 0, startedAtMs: 0 });
  await db.query('begin');
  const ledger = createLedger(db);
  const accountId = await createAccount(db, { name: 'warm-up' });
  await ledger.sweep();
  await ledger.balance(accountId);
  await findViolations(db);
  await db.query('rollback');
}
