import { isDatabaseUnavailable } from '../platform/database/db.ts';
import { isCloseRefused } from '../ledger/close.ts';
import type { CloseInput, GiveBackInput } from '../ledger/ledger.ts';

/** The end of a stream, or of an upgrade that claimed a session and opened no stream. */
export type Settlement = CloseInput | (GiveBackInput & { readonly status: 'given_back' });

export interface SettlementsInput {
  /** Writes one settlement. Writing the same one again changes nothing. */
  readonly write: (settlement: Settlement) => Promise<void>;
  /** Called once for a settlement that must wait although the database is up, with the error. */
  readonly onDelayed: (settlement: Settlement, cause: unknown) => void;
  /** Called for an abandoned settlement, with the error of its last attempt. */
  readonly onLost: (settlement: Settlement, cause: unknown) => void;
}

/** More than a node can have streams. Above it the sweeper fails the session, unbilled. */
const WAITING_MAX = 10_000;
const AT_ONCE = 8;
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 1_000;

/** A settlement that the database has not confirmed yet. */
interface Pending {
  readonly settlement: Settlement;
  readonly done: () => void;
  isReported: boolean;
  pauseMs: number;
  retryAtMs: number;
}

/**
 * Writes the outcome of every stream and of every lost upgrade to the database, and retries until the database has accepted or refused it. Each
 * account has at most one retry under way, so an account whose row is locked does not hold up the others. A process
 * that dies with settlements pending bills nothing for them.
 */
export class Settlements {
  readonly #input: SettlementsInput;
  readonly #pending = new Set<Pending>();
  readonly #attempts = new Set<Promise<void>>();
  readonly #busyAccounts = new Set<string>();
  #waiting: Pending[] = [];
  /** While the database is down, no retry starts before this time. */
  #databasePauseMs = 0;
  #databaseRetryAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #drained: PromiseWithResolvers<void> | null = null;
  #stopped = false;

  constructor(input: SettlementsInput) {
    this.#input = input;
  }

  /** Number of settlements that the database has not confirmed. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Resolves when the settlement is written or abandoned. */
  settle(settlement: Settlement): Promise<void> {
    return new Promise((done) => {
      const entry: Pending = { settlement, done, isReported: false, pauseMs: 0, retryAtMs: 0 };
      this.#pending.add(entry);
      this.#start(entry);
    });
  }

  /** Resolves when nothing is pending, including first attempts that are still under way. */
  async drained(): Promise<void> {
    if (this.#pending.size === 0) return;
    this.#drained ??= Promise.withResolvers();
    await this.#drained.promise;
  }

  /** Waits for the attempts under way and abandons the rest. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const entry of this.#waiting.splice(0)) {
      this.#giveUp(entry, new Error('The process stopped before the database confirmed it.'));
    }
    await Promise.all(this.#attempts);
  }

  #start(entry: Pending, onAttempted?: () => void): void {
    const attempt = this.#attempt(entry).finally(() => {
      this.#attempts.delete(attempt);
      onAttempted?.();
      this.#retryDue();
    });
    this.#attempts.add(attempt);
  }

  async #attempt(entry: Pending): Promise<void> {
    try {
      await this.#input.write(entry.settlement);
      this.#databasePauseMs = 0;
      this.#databaseRetryAtMs = 0;
      this.#finish(entry);
    } catch (error) {
      const isFull = this.#waiting.length >= WAITING_MAX;
      if (isCloseRefused(error) || isFull || this.#stopped) this.#giveUp(entry, error);
      else this.#postpone(entry, error);
    }
  }

  #postpone(entry: Pending, error: unknown): void {
    const nowMs = performance.now();
    const isOutage = isDatabaseUnavailable(error);
    if (!isOutage && !entry.isReported) {
      entry.isReported = true;
      this.#input.onDelayed(entry.settlement, error);
    }
    entry.pauseMs = longer(entry.pauseMs);
    entry.retryAtMs = nowMs + entry.pauseMs;
    if (isOutage && this.#databaseRetryAtMs <= nowMs) {
      this.#databasePauseMs = longer(this.#databasePauseMs);
      this.#databaseRetryAtMs = nowMs + this.#databasePauseMs;
    }
    this.#waiting.push(entry);
  }

  /** Retries what is due, oldest first, one settlement of each account at a time. */
  #retryDue(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    const nowMs = performance.now();
    let nextAtMs = Infinity;
    const due: Pending[] = [];
    this.#waiting = this.#waiting.filter((entry) => {
      const { accountId } = entry.settlement;
      if (this.#busyAccounts.size >= AT_ONCE || this.#busyAccounts.has(accountId)) return true;
      const atMs = Math.max(entry.retryAtMs, this.#databaseRetryAtMs);
      if (atMs > nowMs) {
        nextAtMs = Math.min(nextAtMs, atMs);
        return true;
      }
      this.#busyAccounts.add(accountId);
      due.push(entry);
      return false;
    });
    for (const entry of due) {
      this.#start(entry, () => this.#busyAccounts.delete(entry.settlement.accountId));
    }
    if (nextAtMs < Infinity) this.#timer = setTimeout(() => this.#retryDue(), nextAtMs - nowMs);
  }

  #giveUp(entry: Pending, cause: unknown): void {
    this.#input.onLost(entry.settlement, cause);
    this.#finish(entry);
  }

  #finish(entry: Pending): void {
    this.#pending.delete(entry);
    entry.done();
    if (this.#pending.size > 0) return;
    this.#drained?.resolve();
    this.#drained = null;
  }
}

function longer(pauseMs: number): number {
  return Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, pauseMs * 2));
}
