import { randomUUID } from 'node:crypto';
import { normaliseEmail } from './people/email-address.ts';
import type { Queryable } from '../platform/database/db.ts';
import { queryRow, queryRows, statement, t, type RowOf } from '../platform/database/statement.ts';

export interface WaitlistEntry {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly purpose: string;
  readonly status: 'waiting' | 'approved' | 'declined';
  readonly accountId: string | null;
  readonly createdAt: Date;
  readonly decidedAt: Date | null;
  readonly decidedBy: string | null;
  readonly reason: string | null;
  readonly grantedMs: number | null;
}

const COLUMNS = {
  id: t.text(),
  email: t.text(),
  name: t.text(),
  purpose: t.text(),
  status: t.text<WaitlistEntry['status']>(),
  account_id: t.nullable(t.text()),
  created_at: t.timestamp(),
  decided_at: t.nullable(t.timestamp()),
  decided_by: t.nullable(t.text()),
  decision_reason: t.nullable(t.text()),
  granted_ms: t.nullable(t.number()),
};
const FIELDS = Object.keys(COLUMNS).join(', ');
const LIST = statement(
  `select ${FIELDS} from waitlist where status = $1
      and ($3::uuid is null or (created_at, id) > (select created_at, id from waitlist where id = $3))
    order by created_at, id limit $2`,
  COLUMNS,
);
/** The newest request first. */
const LIST_NEWEST = statement(
  `select ${FIELDS} from waitlist where status = $1
      and ($3::uuid is null or (created_at, id) < (select created_at, id from waitlist where id = $3))
    order by created_at desc, id desc limit $2`,
  COLUMNS,
);
const FIND = statement(`select ${FIELDS} from waitlist where email = $1`, COLUMNS);
const APPROVE = statement('select approve_waitlist($1, $2, $3) as account_id', {
  account_id: t.nullable(t.text()),
});

const DECLINE = statement('select decline_waitlist($1, $2, $3) as is_declined', {
  is_declined: t.boolean(),
});
const ERASE = statement('select erase_waitlist_entry($1) as status', {
  status: t.nullable(t.text<WaitlistEntry['status']>()),
});

/** Adds a request. Joining twice keeps the first entry and returns the same, so that nobody learns who is on the list. */
export async function joinWaitlist(
  db: Queryable,
  input: { email: string; name: string; purpose: string; language?: 'en' | 'sw' },
): Promise<void> {
  await db.query(
    `insert into waitlist (id, email, name, purpose, language) values ($1, $2, $3, $4, $5)
      on conflict (email) do nothing`,
    [randomUUID(), normaliseEmail(input.email), input.name, input.purpose, input.language ?? 'en'],
  );
}

/** Lists the entries behind the entry `after`: waiting ones from the oldest on, decided ones from the newest on. */
export async function listWaitlist(
  db: Queryable,
  input: { status: WaitlistEntry['status']; limit: number; after?: string | null },
): Promise<WaitlistEntry[]> {
  const list = input.status === 'waiting' ? LIST : LIST_NEWEST;
  const rows = await queryRows(db, list, [input.status, input.limit, input.after ?? null]);
  return rows.map(toEntry);
}

export async function findWaitlistEntry(
  db: Queryable,
  email: string,
): Promise<WaitlistEntry | null> {
  const [row] = await queryRows(db, FIND, [normaliseEmail(email)]);
  return row === undefined ? null : toEntry(row);
}

/**
 * Creates the person's account and returns its id, the same one when repeated. Returns null for an
 * unknown id.
 */
export async function approveWaitlist(
  db: Queryable,
  input: { id: string; actor: string },
): Promise<string | null> {
  const [row] = await queryRows(db, APPROVE, [input.id, randomUUID(), input.actor]);
  return row?.account_id ?? null;
}

/** Returns false if no request waits under this id. */
export async function declineWaitlist(
  db: Queryable,
  input: { id: string; actor: string; reason: string },
): Promise<boolean> {
  return (await queryRow(db, DECLINE, [input.id, input.actor, input.reason])).is_declined;
}

/**
 * Removes the personal data of a request that has no account, and returns what its status was. An approved one stays, and
 * null is an unknown id.
 */
export async function eraseWaitlistEntry(
  db: Queryable,
  id: string,
): Promise<WaitlistEntry['status'] | null> {
  return (await queryRow(db, ERASE, [id])).status;
}

function toEntry(row: RowOf<typeof FIND>): WaitlistEntry {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    purpose: row.purpose,
    status: row.status,
    accountId: row.account_id,
    createdAt: row.created_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    reason: row.decision_reason,
    grantedMs: row.granted_ms,
  };
}
