import { randomUUID } from 'node:crypto';
import { DatabaseRefused, type Queryable } from '../platform/db.ts';
import type { Log } from '../platform/log.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { number, queryRows, statement, text } from '../platform/statement.ts';
import type { Ledger } from './ledger.ts';
import { onlyRow } from './retry-once.ts';

const CHECK_EVERY_MS = 2_000;

/** The last session that the database confirmed to this process. */
interface Acknowledged {
  readonly accountId: string;
  readonly sessionId: string;
  /** Confirmed as ended, not only as reserved. */
  readonly isOver: boolean;
}

const MARK = statement(
  'select * from mark_ledger($1, $2, $3, $4, $5, $6)',
  { outcome: text<'known' | 'accepted' | 'rolled_back'>(), marked: number() },
  { name: 'mark_ledger' },
);

/**
 * Records the latest position of the ledger that this process has seen, and refuses a database with less history: one
 * restored from an older backup, or a primary that lost acknowledged commits. Such a database is consistent in itself, so
 * the audit cannot detect the loss.
 *
 * Every new connection is checked before it is used, because another database can only appear on a new connection. While
 * a database is refused, reservations and upgrades get 503, streams continue and their closes wait. The refusal ends by
 * itself when the complete database returns, or when an operator accepts the loss (`svc-admin ledger accept-restore`).
 */
export class HistoryGuard {
  readonly #input: { readonly nodeId: string; readonly log: Log };
  readonly #processId = randomUUID();
  #position = 0;
  #newest: Acknowledged | null = null;
  #isRolledBack = false;

  constructor(input: { nodeId: string; log: Log }) {
    this.#input = input;
  }

  get isRolledBack(): boolean {
    return this.#isRolledBack;
  }

  /** Rejects with `DatabaseRefused` if the database has lost history that it acknowledged to this process. */
  readonly verify = async (db: Queryable): Promise<void> => {
    const newest = this.#newest;
    const rows = await queryRows(db, MARK, [
      this.#processId,
      this.#input.nodeId,
      this.#position,
      newest?.accountId ?? null,
      newest?.sessionId ?? null,
      newest?.isOver ?? null,
    ]);
    const { outcome, marked } = onlyRow(rows);
    if (outcome === 'rolled_back') {
      this.#refuse();
      throw refusal();
    }
    // Another connection may have been verified meanwhile.
    this.#position = outcome === 'accepted' ? marked : Math.max(this.#position, marked);
    // The mark is newer than this session, so the session need not be checked again.
    if (this.#newest === newest) this.#newest = null;
    this.#trust(outcome);
  };

  /** Wraps a ledger: records every acknowledged session, and rejects every call while the database is refused. */
  guard(ledger: Ledger): Ledger {
    return {
      reserve: async (input) => {
        const result = await this.#whileTrusted(() => ledger.reserve(input));
        if (result.outcome === 'reserved') {
          const { id: sessionId, accountId } = result.session;
          this.#newest = { accountId, sessionId, isOver: false };
        }
        return result;
      },
      claim: (input) => this.#whileTrusted(() => ledger.claim(input)),
      close: async (input) => {
        const result = await this.#whileTrusted(() => ledger.close(input));
        const { accountId, sessionId } = input;
        if (result !== 'superseded') this.#newest = { accountId, sessionId, isOver: true };
        return result;
      },
      balance: (accountId) => this.#whileTrusted(() => ledger.balance(accountId)),
      grant: (input) => this.#whileTrusted(() => ledger.grant(input)),
      adjust: (input) => this.#whileTrusted(() => ledger.adjust(input)),
      sweep: (options) => this.#whileTrusted(() => ledger.sweep(options)),
    };
  }

  /** Checks every two seconds. Resolves after the first check with a stop function. */
  async watch(db: Queryable): Promise<() => Promise<void>> {
    const task = startPeriodic({
      everyMs: CHECK_EVERY_MS,
      log: this.#input.log,
      failure: 'The ledger history could not be checked.',
      run: () => this.verify(db),
    });
    await task.firstRun;
    return () => task.stop();
  }

  #whileTrusted<T>(work: () => Promise<T>): Promise<T> {
    return this.#isRolledBack ? Promise.reject(refusal()) : work();
  }

  #refuse(): void {
    if (this.#isRolledBack) return;
    this.#isRolledBack = true;
    this.#input.log.error(
      { position: this.#position },
      'The database has lost ledger history that it acknowledged, so this process takes no new sessions or streams. ' +
        'Restore the complete database, or accept the loss with: svc-admin ledger accept-restore',
    );
  }

  #trust(outcome: 'known' | 'accepted'): void {
    if (!this.#isRolledBack) return;
    this.#isRolledBack = false;
    if (outcome === 'known')
      this.#input.log.info('The database has the whole ledger history again.');
    else this.#input.log.warn('An operator accepted the loss of ledger history.');
  }
}

function refusal(): DatabaseRefused {
  return new DatabaseRefused('The database has lost ledger history that was acknowledged.');
}
