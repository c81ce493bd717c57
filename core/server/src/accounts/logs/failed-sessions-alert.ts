import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import type { Log } from '../../platform/observe/log.ts';
import { startPeriodic } from '../../platform/periodic.ts';

const POLL_EVERY_MS = 5_000;
/** Bounds the result during an outage, when every account has failures. */
const ACCOUNTS_MAX = 10_000;

/** Accounts with more than `$1` failed sessions within the last hour. */
const FAILING = statement(
  `select account_id, count(*)::integer as failed
    from sessions
    where status = 'failed' and completed_at > statement_timestamp() - interval '1 hour'
    group by account_id having count(*) > $1
    limit ${ACCOUNTS_MAX}`,
  { account_id: t.text(), failed: t.number() },
  { name: 'failing_accounts' },
);

/**
 * Alerts the operator when an account has many failed sessions. A failed session is our fault and free,
 * so the account is never refused because of it (ADR 0044).
 */
export class FailedSessionsAlert {
  readonly #input: { threshold: number; log: Log };
  #accounts: ReadonlySet<string> = new Set();

  constructor(input: { threshold: number; log: Log }) {
    this.#input = input;
  }

  /** Number of accounts above the threshold. */
  get count(): number {
    return this.#accounts.size;
  }

  /** Polls in the background. Resolves after the first poll with a stop function. */
  async watch(db: Queryable): Promise<() => Promise<void>> {
    const task = startPeriodic({
      everyMs: POLL_EVERY_MS,
      log: this.#input.log,
      failure: 'Failed sessions could not be counted.',
      run: () => this.#poll(db),
    });
    await task.firstRun;
    return () => task.stop();
  }

  async #poll(db: Queryable): Promise<void> {
    const { threshold, log } = this.#input;
    const rows = await queryRows(db, FAILING, [threshold]);
    for (const { account_id: accountId, failed } of rows) {
      if (this.#accounts.has(accountId)) continue;
      log.error({ accountId, failed }, 'Many sessions of an account failed within an hour.');
    }
    this.#accounts = new Set(rows.map((row) => row.account_id));
  }
}
