import type { Clock } from './clock.ts';
import type { Queryable } from './db.ts';
import { keepFresh } from './keep-fresh.ts';
import type { Log } from './log.ts';

const LOOK_EVERY_MS = 5_000;
/** More at once than this is an outage of ours, and no account's doing. */
const ACCOUNTS_MAX = 10_000;

interface FailingRow {
  readonly account_id: string;
  readonly failed: number;
  readonly refused_ms: number;
}

/** Who had more than `$1` failures within the hour, and how long until enough of them are older than that. */
const FAILING = `
  select account_id, count(*)::integer as failed,
    ceil(extract(epoch from (array_agg(completed_at order by completed_at desc))[$1 + 1]
      + interval '1 hour' - statement_timestamp()) * 1000)::integer as refused_ms
  from sessions
  where status = 'failed' and completed_at > statement_timestamp() - interval '1 hour'
  group by account_id having count(*) > $1
  limit ${ACCOUNTS_MAX}`;

/**
 * Failures of ours are free, so somebody who found out how to cause them would be served for nothing. An account with
 * too many within an hour gets nothing new for a while, and the operator is told. Looked up beside the requests: none
 * of them waits for it.
 */
export class FailingAccounts {
  readonly #input: { limit: number; clock: Clock; log: Log };
  #refusedUntilMs: ReadonlyMap<string, number> = new Map();

  constructor(input: { limit: number; clock: Clock; log: Log }) {
    this.#input = input;
  }

  get count(): number {
    return this.#refusedUntilMs.size;
  }

  /** 0 for nearly everybody. */
  refusedForMs(accountId: string): number {
    const untilMs = this.#refusedUntilMs.get(accountId);
    return untilMs === undefined ? 0 : Math.max(0, untilMs - this.#input.clock.monotonicMs());
  }

  /** Resolves once it has looked; what it gives ends the watching. */
  watch(db: Queryable): Promise<() => Promise<void>> {
    return keepFresh({
      everyMs: LOOK_EVERY_MS,
      log: this.#input.log,
      failure: 'Failed sessions could not be counted.',
      refresh: () => this.#look(db),
    });
  }

  async #look(db: Queryable): Promise<void> {
    const { limit, clock, log } = this.#input;
    const nowMs = clock.monotonicMs();
    const { rows } = await db.query<FailingRow>({
      name: 'failing_accounts',
      text: FAILING,
      values: [limit],
    });
    for (const { account_id: accountId, failed } of rows) {
      if (this.#refusedUntilMs.has(accountId)) continue;
      log.warn(
        { accountId, failed },
        'Too many sessions of an account failed within an hour; it gets nothing new for a while.',
      );
    }
    this.#refusedUntilMs = new Map(
      rows.map((row) => [row.account_id, nowMs + row.refused_ms] as const),
    );
  }
}
