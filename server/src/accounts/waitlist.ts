import { randomUUID } from 'node:crypto';
import { normaliseEmail } from './email-address.ts';
import type { Queryable } from '../platform/db.ts';
import {
  nullable,
  queryRows,
  statement,
  text,
  timestamp,
  type RowOf,
} from '../platform/statement.ts';

export interface WaitlistEntry {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly purpose: string;
  readonly status: 'waiting' | 'approved' | 'declined';
  readonly accountId: string | null;
  readonly createdAt: Date;
}

const COLUMNS = {
  id: text(),
  email: text(),
  name: text(),
  purpose: text(),
  status: text<WaitlistEntry['status']>(),
  account_id: nullable(text()),
  created_at: timestamp(),
};
const FIELDS = Object.keys(COLUMNS).join(', ');
const LIST = statement(
  `select ${FIELDS} from waitlist where status = $1 order by created_at limit $2`,
  COLUMNS,
);
const FIND = statement(`select ${FIELDS} from waitlist where email = $1`, COLUMNS);
const APPROVE = statement('select approve_waitlist($1, $2, $3) as account_id', {
  account_id: nullable(text()),
});

/**
 * Joining twice keeps the first entry. The result is the same, so that nobody can find out who is on
 * the list.
 */
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

/** Oldest first. */
export async function listWaitlist(
  db: Queryable,
  input: { status: WaitlistEntry['status']; limit: number },
): Promise<WaitlistEntry[]> {
  const rows = await queryRows(db, LIST, [input.status, input.limit]);
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

function toEntry(row: RowOf<typeof FIND>): WaitlistEntry {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    purpose: row.purpose,
    status: row.status,
    accountId: row.account_id,
    createdAt: row.created_at,
  };
}
