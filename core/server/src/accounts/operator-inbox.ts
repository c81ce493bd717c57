import type { Queryable } from '../platform/database/db.ts';
import { queryRow, statement, t, type RowOf } from '../platform/database/statement.ts';

/** Bounds the count during an outage, when every stream fails. */
const FAILURES_MAX = 1_000;

const INBOX = statement(
  `select (select count(*) from waitlist where status = 'waiting') as waitlist,
    (select count(*) from credit_requests where status = 'open') as requests,
    (select count(*) from (select 1 from sessions where status = 'failed'
      and completed_at > clock_timestamp() - interval '24 hours' limit ${FAILURES_MAX}) failed) as failures`,
  { waitlist: t.number(), requests: t.number(), failures: t.number() },
);

/** What waits for an operator: people, requests for credit, and sessions that failed within 24 hours. */
export function operatorInbox(db: Queryable): Promise<RowOf<typeof INBOX>> {
  return queryRow(db, INBOX);
}
