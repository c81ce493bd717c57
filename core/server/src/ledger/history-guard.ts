import { randomUUID } from 'node:crypto';
import { DatabaseRefused, type Queryable } from '../platform/database/db.ts';
import type { Log } from '../platform/observe/log.ts';
import { startPeriodic } from '../platform/periodic.ts';
import { queryRow, statement, t, type RowOf } from '../platform/database/statement.ts';
import type { Ledger } from './ledger.ts';

const CHECK_EVERY_MS = 2_000;
/**
 * More than the connections of a process. Only answers that were under way at the same moment can arrive in another order
 * than their commits, and each connection has one.
 */
const UNMARKED_MAX = 32;

/** A session that the database confirmed to this process. */
interface Acknowledged {
  readonly accountId: string;
  readonly sessionId: string;
  /** Confirmed as ended, not only as reserved or claimed. With an upgrade: as given back by it. */
  readonly isOver: boolean;
  /** The upgrade that claimed it or gave it back, if that was confirmed. */
  readonly upgradeId: string | null;
}

const MARK = statement(
  'select * from mark_ledger($1, $2, $3, $4, $5, $6, $7)',
  { outcome: t.text<'known' | 'accepted' | 'rolled_back'>(), marked: t.number() },
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
  /** Sessions confirmed since the last mark, except those that are certainly older than another one here. */
  #unmarked: readonly (Acknowledged & { readonly answeredAt: number })[] = [];
  /** Counts questions and answers, to tell their order. */
  #turn = 0;
  /** How often an operator's acceptance was seen. */
  #acceptances = 0;
  #isRolledBack = false;

  constructor(input: { nodeId: string; log: Log }) {
    this.#input = input;
  }

  get isRolledBack(): boolean {
    return this.#isRolledBack;
  }

  /** Rejects with `DatabaseRefused` if the database has lost history that it acknowledged to this process. */
  readonly verify = async (db: Queryable): Promise<void> => {
    const unmarked = this.#unmarked;
    const acceptances = this.#acceptances;
    for (const session of unmarked.length > 0 ? unmarked : [null]) {
      const { outcome, marked } = await this.#mark(db, session);
      if (outcome === 'rolled_back') {
        // The operator accepted the loss, and another connection was told so.
        if (this.#acceptances !== acceptances) return this.verify(db);
        // An acceptance is of the first session that is missing.
        this.#unmarked = this.#unmarked.toSorted((a, b) => +(b === session) - +(a === session));
        this.#refuse();
        throw refusal();
      }
      // Another connection may have been verified meanwhile.
      this.#position = outcome === 'accepted' ? marked : Math.max(this.#position, marked);
      this.#trust(outcome);
      if (outcome === 'accepted') break;
    }
    // The mark is newer than these sessions, so they need not be checked again.
    this.#unmarked = this.#unmarked.filter((session) => !unmarked.includes(session));
  };

  /** Wraps a ledger: records every acknowledged session, and rejects every call while the database is refused. */
  guard(ledger: Ledger): Ledger {
    return {
      reserve: async (input) => {
        const acknowledge = this.#ask();
        const result = await this.#whileTrusted(() => ledger.reserve(input));
        if (result.outcome === 'reserved') {
          const { id: sessionId, accountId } = result.session;
          acknowledge({ accountId, sessionId, isOver: false, upgradeId: null });
        }
        return result;
      },
      claim: async (input) => {
        const acknowledge = this.#ask();
        const result = await this.#whileTrusted(() => ledger.claim(input));
        if (result.outcome === 'claimed') {
          const { accountId, sessionId, upgradeId = null } = input;
          acknowledge({ accountId, sessionId, isOver: false, upgradeId });
        }
        return result;
      },
      giveBack: async (input) => {
        const acknowledge = this.#ask();
        const result = await this.#whileTrusted(() => ledger.giveBack(input));
        acknowledge({ ...input, isOver: true });
        return result;
      },
      close: async (input) => {
        const acknowledge = this.#ask();
        const result = await this.#whileTrusted(() => ledger.close(input));
        const { accountId, sessionId } = input;
        if (result !== 'superseded') {
          acknowledge({ accountId, sessionId, isOver: true, upgradeId: null });
        }
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

  #mark(db: Queryable, session: Acknowledged | null): Promise<RowOf<typeof MARK>> {
    return queryRow(db, MARK, [
      this.#processId,
      this.#input.nodeId,
      this.#position,
      session?.accountId ?? null,
      session?.sessionId ?? null,
      session?.isOver ?? null,
      session?.upgradeId ?? null,
    ]);
  }

  /** Call it before a question to the ledger. Returns what records its answer. */
  #ask(): (session: Acknowledged) => void {
    const askedAt = this.#turn++;
    return (session) => {
      // What was answered before this was asked is older.
      const others = this.#unmarked.filter(({ answeredAt }) => answeredAt > askedAt);
      const answered = { ...session, answeredAt: this.#turn++ };
      this.#unmarked = [...others, answered].slice(-UNMARKED_MAX);
    };
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
    if (outcome === 'accepted') this.#acceptances += 1;
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
