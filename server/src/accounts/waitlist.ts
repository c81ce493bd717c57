import { randomUUID } from 'node:crypto';
import type { Queryable } from '../db.ts';

export interface WaitlistEntry {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly purpose: string;
  readonly status: 'waiting' | 'approved' | 'declined';
  readonly accountId: string | null;
  readonly createdAt: Date;
}

interface WaitlistRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly purpose: string;
  readonly status: WaitlistEntry['status'];
  readonly account_id: string | null;
  readonly created_at: Date;
}

/**
 * Joining twice leaves the first entry as it is, and the answer does not tell: nobody learns who is
 * on the list.
 */
export async function joinWaitlist(
  db: Queryable,
  input: { email: string; name: string; purpose: string; language?: 'en' | 'sw' },
): Promise<void> {
  await db.query(
    `insert into waitlist (id, email, name, purpose, language) values ($1, $2, $3, $4, $5)
      on conflict (lower(email)) do nothing`,
    [randomUUID(), input.email, input.name, input.purpose, input.language ?? 'en'],
  );
}

/** Oldest first: who waited longest comes first. */
export async function listWaitlist(
  db: Queryable,
  input: { status: WaitlistEntry['status']; limit: number },
): Promise<WaitlistEntry[]> {
  const { rows } = await db.query<WaitlistRow>(
    `select id, email, name, purpose, status, account_id, created_at
      from waitlist where status = $1 order by created_at limit $2`,
    [input.status, input.limit],
  );
  return rows.map(toEntry);
}

export async function findWaitlistEntry(
  db: Queryable,
  email: string,
): Promise<WaitlistEntry | null> {
  const { rows } = await db.query<WaitlistRow>(
    `select id, email, name, purpose, status, account_id, created_at
      from waitlist where lower(email) = lower($1)`,
    [email],
  );
  return rows[0] === undefined ? null : toEntry(rows[0]);
}

/**
 * The account of whoever was let in, the same one when asked again. Null: nobody waits under this
 * id.
 */
export async function approveWaitlist(
  db: Queryable,
  input: { id: string; actor: string },
): Promise<string | null> {
  const { rows } = await db.query<{ account_id: string | null }>(
    'select approve_waitlist($1, $2, $3) as account_id',
    [input.id, randomUUID(), input.actor],
  );
  return rows[0]?.account_id ?? null;
}

function toEntry(row: WaitlistRow): WaitlistEntry {
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
