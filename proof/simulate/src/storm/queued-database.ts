import type { Answer, Call } from '../ledger/database.ts';
import type { ModelLedger } from '../ledger/model-ledger.ts';
import type { DatabaseServer } from '../virtual/pool.ts';
import type { Random } from '../virtual/random.ts';
import { scheduler } from '../virtual/scheduler.ts';
import type { Series } from './series.ts';

/** What statements cost, in commits. Those that aren't listed only read. */
const COSTS: readonly (readonly [name: string, commits: number])[] = [
  ['reserve_session(', 1],
  ['claim_session(', 1],
  ['close_session(', 1],
  ['fail_orphans(', 1],
  ['expire_reservations(', 1],
  ['mark_ledger(', 1],
  ['register_node(', 1],
  ['renew_node(', 1],
  ['report_live_audio(', 1],
  ['record_streams(', 5],
  ['record_calls(', 5],
];
const READ_COST = 0.2;
/** Each session that the sweeper fails. */
const ORPHAN_COST = 0.6;
/** Of `statement_timeout`. */
const STATEMENT_MS_MAX = 1_000;

/** A database that does a number of commits a second. Statements wait for those before them. */
export function createQueuedDatabase(input: {
  readonly ledger: ModelLedger;
  readonly commits: number;
  readonly series: Series;
  readonly random: Random;
}): DatabaseServer & { restart(): void } {
  const { ledger, series, random } = input;
  const commitMs = 1000 / input.commits;
  const costs = new Map<string, number>();
  let busyUntilMs = 0;

  function costOf({ text }: Call): number {
    const known = costs.get(text);
    if (known !== undefined) return known;
    const cost = COSTS.find(([name]) => text.includes(name))?.[1] ?? READ_COST;
    costs.set(text, cost);
    return cost;
  }

  async function run(call: Call): Promise<Answer> {
    const answer = await ledger.run(call);
    if (!call.text.includes('fail_orphans(')) return answer;
    const failed = Number(answer.rows[0]?.['failed'] ?? 0);
    busyUntilMs = Math.max(busyUntilMs, scheduler.nowMs) + failed * ORPHAN_COST * commitMs;
    return answer;
  }

  return {
    database: { run },
    generation: 0,
    state: 'up',
    statementMs: () => random.between(0.2, 1.5),
    fate: () => 'answered',
    restart() {
      busyUntilMs = scheduler.nowMs;
      ledger.restart();
    },
    queueMs(call) {
      const waitMs = Math.max(0, busyUntilMs - scheduler.nowMs);
      series.peak('queue ms', Math.round(waitMs));
      if (waitMs > STATEMENT_MS_MAX) {
        series.count('cancelled');
        return Infinity;
      }
      const cost = costOf(call);
      series.count('commits', cost);
      busyUntilMs = scheduler.nowMs + waitMs + cost * commitMs;
      return waitMs + cost * commitMs;
    },
  };
}
