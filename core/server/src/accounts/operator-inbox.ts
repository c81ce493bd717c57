import type { Queryable } from '../platform/database/db.ts';
import { queryRow, statement, t, type RowOf } from '../platform/database/statement.ts';

/** Bounds the count during an outage, when every stream fails. */
const FAILURES_MAX = 1_000;

function failedWithin(hours: number): string {
  return `(select count(*) from (select 1 from sessions where status = 'failed'
    and completed_at > clock_timestamp() - interval '${hours} hours' limit ${FAILURES_MAX}) failed)`;
}

const INBOX = statement(
  `select (select count(*) from waitlist where status = 'waiting') as waitlist,
    (select min(created_at) from waitlist where status = 'waiting') as waitlist_since,
    (select count(*) from credit_requests where status = 'open') as requests,
    (select min(requested_at) from credit_requests where status = 'open') as requests_since,
    ${failedWithin(24)} as failures, ${failedWithin(72)} as weekend`,
  {
    waitlist: t.number(),
    waitlist_since: t.nullable(t.timestamp()),
    requests: t.number(),
    requests_since: t.nullable(t.timestamp()),
    failures: t.number(),
    weekend: t.number(),
  },
);

/** What waits for an operator and since when: people, requests for credit, and sessions that failed within 24 and 72 hours. */
export function operatorInbox(db: Queryable): Promise<RowOf<typeof INBOX>> {
  return queryRow(db, INBOX);
}
