import { randomUUID } from 'node:crypto';
import type { Queryable } from '../platform/database/db.ts';
import { queryRow, queryRows, statement, t, type Row } from '../platform/database/statement.ts';

export type CreditRequestStatus = 'open' | 'granted' | 'declined';

const COLUMNS = {
  id: t.text(),
  requested_at: t.timestamp(),
  requested_ms: t.number(),
  message: t.text(),
  status: t.text<CreditRequestStatus>(),
  decided_at: t.nullable(t.timestamp()),
  granted_ms: t.nullable(t.number()),
  reply: t.nullable(t.text()),
};
const FIELDS = Object.keys(COLUMNS)
  .map((column) => `r.${column}`)
  .join(', ');
export type CreditRequestRow = Row<typeof COLUMNS>;

const OF_ACCOUNT = statement(
  `select ${FIELDS} from credit_requests r where r.account_id = $1 order by r.requested_at desc limit $2`,
  COLUMNS,
);

/** Newest first. */
export async function listCreditRequestsOf(
  db: Queryable,
  input: { accountId: string; limit: number },
): Promise<CreditRequestRow[]> {
  return queryRows(db, OF_ACCOUNT, [input.accountId, input.limit]);
}

const OPERATOR_COLUMNS = {
  ...COLUMNS,
  account_id: t.text(),
  account_name: t.text(),
  requested_by: t.nullable(t.text()),
  available_ms: t.number(),
};
const listBy = (order: { compare: '<' | '>'; direction: 'asc' | 'desc' }) =>
  statement(
    `select ${FIELDS}, r.account_id, a.name as account_name, u.email as requested_by, a.available_ms
      from credit_requests r join accounts a on a.id = r.account_id
        left join console_users u on u.id = r.requested_by
      where r.status = $1 and a.move_state is null
        and ($3::uuid is null
          or (r.requested_at, r.id) ${order.compare} (select requested_at, id from credit_requests where id = $3))
      order by r.requested_at ${order.direction}, r.id ${order.direction} limit $2`,
    OPERATOR_COLUMNS,
  );
const OLDEST = listBy({ compare: '>', direction: 'asc' });
const NEWEST = listBy({ compare: '<', direction: 'desc' });

export type OperatorCreditRequestRow = Row<typeof OPERATOR_COLUMNS>;

/** Of all accounts, from after the request `after` on: open ones oldest first, decided ones newest first. */
export async function listCreditRequests(
  db: Queryable,
  input: { status: CreditRequestStatus; limit: number; after: string | null },
): Promise<OperatorCreditRequestRow[]> {
  const list = input.status === 'open' ? OLDEST : NEWEST;
  return queryRows(db, list, [input.status, input.limit, input.after]);
}

const REQUEST = statement('select request_credit($1, $2, $3, $4, $5) as outcome', {
  outcome: t.text<'requested' | 'credit_request_open' | 'credit_request_limit_reached'>(),
});

/** Asks the operators for credit. They get an email. */
export async function requestCredit(
  db: Queryable,
  input: { accountId: string; userId: string; ms: number; message: string },
): Promise<'requested' | 'credit_request_open' | 'credit_request_limit_reached'> {
  const { accountId, userId, ms, message } = input;
  const values = [randomUUID(), accountId, userId, ms, message];
  return (await queryRow(db, REQUEST, values)).outcome;
}

const DECIDE = statement('select decide_credit_request($1, $2, $3, $4) as available_ms', {
  available_ms: t.nullable(t.number()),
});

/**
 * Grants an amount, or declines with null. The owners of the account get the reply by email. Returns the account's
 * available credit, or null if no request is open under this id.
 */
export async function decideCreditRequest(
  db: Queryable,
  input: { id: string; ms: number | null; reply: string; actor: string },
): Promise<number | null> {
  const { id, ms, reply, actor } = input;
  return (await queryRow(db, DECIDE, [id, ms, reply, actor])).available_ms;
}
