import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t, type RowOf } from '../../platform/database/statement.ts';

/** Bounds both queries during an outage, when every stream fails. */
const SESSIONS_MAX = 10_000;

/**
 * The newest failed sessions of the last $1 hours. The node reports why a stream failed. It reports nothing if it was lost,
 * and there is no stream if the session was never opened.
 */
const FAILED = `with failed as materialized (
    select account_id, id, model, node_id, claimed_at, completed_at, audio_ms from sessions
      where status = 'failed' and completed_at > clock_timestamp() - $1 * interval '1 hour'
      order by completed_at desc limit ${SESSIONS_MAX}
  ), caused as (
    select f.*, d.close_code, case
        when d.close_reason is not null then d.close_reason
        when f.claimed_at is null then 'node_lost_before_start'
        else 'node_lost' end as cause
      from failed f left join session_details d on d.account_id = f.account_id and d.session_id = f.id
  )`;
const BY_CAUSE = statement(
  `${FAILED} select cause, count(*) as sessions, count(distinct account_id) as accounts,
      count(distinct node_id) as nodes, max(completed_at) as last_at
    from caused group by cause order by 2 desc, 1 limit 100`,
  {
    cause: t.nullable(t.text()),
    sessions: t.number(),
    accounts: t.number(),
    nodes: t.number(),
    last_at: t.nullable(t.timestamp()),
  },
);
const SESSIONS = statement(
  `${FAILED} select c.id, c.account_id, a.name as account_name, c.model, c.node_id, c.completed_at, c.audio_ms,
      c.close_code, c.cause
    from caused c join accounts a on a.id = c.account_id
    where ($2::text is null or c.cause = $2) and ($3::uuid is null or c.account_id = $3)
      and ($4::text is null or c.node_id = $4)
    order by c.completed_at desc, c.id limit $5`,
  {
    id: t.text(),
    account_id: t.text(),
    account_name: t.text(),
    model: t.text<ModelId>(),
    node_id: t.text(),
    completed_at: t.nullable(t.timestamp()),
    audio_ms: t.number(),
    close_code: t.nullable(t.number()),
    cause: t.nullable(t.text()),
  },
);

export interface Failures {
  readonly causes: readonly RowOf<typeof BY_CAUSE>[];
  /** Newest first. */
  readonly sessions: readonly RowOf<typeof SESSIONS>[];
}

/** Why sessions failed within the last hours, and the newest of them. */
export async function listFailures(
  db: Queryable,
  input: {
    hours: number;
    cause: string | null;
    accountId: string | null;
    nodeId: string | null;
    limit: number;
  },
): Promise<Failures> {
  const { hours, cause, accountId, nodeId, limit } = input;
  const [causes, sessions] = await Promise.all([
    queryRows(db, BY_CAUSE, [hours]),
    queryRows(db, SESSIONS, [hours, cause, accountId, nodeId, limit]),
  ]);
  return { causes, sessions };
}

const WEEK_HOURS = 168;

/** The newest sessions that failed within a week, of one account or of all. */
export async function listFailedSessions(
  db: Queryable,
  input: { accountId: string | null; limit: number },
): Promise<RowOf<typeof SESSIONS>[]> {
  return queryRows(db, SESSIONS, [WEEK_HOURS, null, input.accountId, null, input.limit]);
}
