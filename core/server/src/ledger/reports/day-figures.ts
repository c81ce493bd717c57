import type { Queryable } from '../../platform/database/db.ts';
import { queryRow, statement, t, type RowOf } from '../../platform/database/statement.ts';

/** Bounds both counts. A large service has metrics for the rest. */
const STREAMS_MAX = 50_000;

/** Details are written once, when a stream ends. */
const DAY = statement(
  `select count(*) as streams, count(distinct s.account_id) as accounts,
      coalesce(sum(s.billable_ms), 0)::bigint as charged_ms,
      (select count(*) from (
        select from sessions where status = 'failed'
          and completed_at > clock_timestamp() - ($1 + 24) * interval '1 hour'
          and completed_at <= clock_timestamp() - $1 * interval '1 hour'
          limit ${STREAMS_MAX}
      ) failed) as failed
    from (
      select account_id, session_id from session_details
        where recorded_at > clock_timestamp() - ($1 + 24) * interval '1 hour'
          and recorded_at <= clock_timestamp() - $1 * interval '1 hour'
        order by recorded_at desc limit ${STREAMS_MAX}
    ) d join sessions s on s.account_id = d.account_id and s.id = d.session_id`,
  { streams: t.number(), accounts: t.number(), charged_ms: t.number(), failed: t.number() },
);

/** Counts the streams of all accounts that ended in the 24 hours up to `endedHoursAgo` hours ago. */
export function countStreams(
  db: Queryable,
  { endedHoursAgo }: { endedHoursAgo: number },
): Promise<RowOf<typeof DAY>> {
  return queryRow(db, DAY, [endedHoursAgo]);
}
