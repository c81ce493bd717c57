import { randomUUID } from 'node:crypto';
import type { Queryable } from '../platform/database/db.ts';
import { queryRows, statement, t, type RowOf } from '../platform/database/statement.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly status: 'active' | 'suspended';
  /** The state and target of a move to another cell, such as `moved k2`. Null: the account is served here. */
  readonly move: string | null;
  readonly concurrencyLimit: number;
  /** Null: a browser may stream from any origin. */
  readonly allowedOrigins: readonly string[] | null;
  readonly keyLimit: number;
  readonly grantedMs: number;
  readonly availableMs: number;
  readonly reservedMs: number;
  readonly consumedMs: number;
  readonly createdAt: Date;
}

const COLUMNS = {
  id: t.text(),
  name: t.text(),
  email: t.nullable(t.text()),
  status: t.text<Account['status']>(),
  move: t.nullable(t.text()),
  concurrency_limit: t.number(),
  key_limit: t.number(),
  allowed_origins: t.nullable(t.texts()),
  granted_ms: t.number(),
  available_ms: t.number(),
  reserved_ms: t.number(),
  consumed_ms: t.number(),
  created_at: t.timestamp(),
};
const FIELDS = Object.keys(COLUMNS)
  .join(', ')
  .replace('move,', "move_state || ' ' || move_cell as move,");
const FIND = statement(`select ${FIELDS} from accounts where id = $1`, COLUMNS);
const LIST = statement(`select ${FIELDS} from accounts order by created_at desc limit $1`, COLUMNS);
const SEARCH = statement(
  `select ${FIELDS} from accounts
    where not (name = 'erased' and email is null)
      and (position(lower($1) in lower(name || ' ' || coalesce(email, ''))) > 0 or id::text = lower($1))
      and ($3::uuid is null or (created_at, id) < (select created_at, id from accounts where id = $3))
    order by created_at desc, id desc limit $2`,
  COLUMNS,
);

/** Creates an account without credit. A grant, which records its reason, adds credit. */
export async function createAccount(
  db: Queryable,
  input: { name: string; email?: string | null; id?: string },
): Promise<string> {
  const id = input.id ?? randomUUID();
  await db.query('insert into accounts (id, name, email) values ($1, $2, $3)', [
    id,
    input.name,
    input.email ?? null,
  ]);
  return id;
}

export async function findAccount(db: Queryable, id: string): Promise<Account | null> {
  const [row] = await queryRows(db, FIND, [id]);
  return row === undefined ? null : toAccount(row);
}

const IDS_BETWEEN = statement('select id from accounts where id between $1 and $2 limit 2', {
  id: t.text(),
});

/** Up to two account ids of this range. */
export async function listAccountIds(
  db: Queryable,
  range: { from: string; to: string },
): Promise<string[]> {
  const rows = await queryRows(db, IDS_BETWEEN, [range.from, range.to]);
  return rows.map((row) => row.id);
}

/** Newest first. */
export async function listAccounts(db: Queryable, limit: number): Promise<Account[]> {
  const rows = await queryRows(db, LIST, [limit]);
  return rows.map(toAccount);
}

/**
 * Newest first, without erased accounts, from after the account `after` on. The text is part of a name, of an address, or
 * a whole id.
 */
export async function searchAccounts(
  db: Queryable,
  input: { text: string; limit: number; after?: string | null },
): Promise<Account[]> {
  const rows = await queryRows(db, SEARCH, [input.text, input.limit, input.after ?? null]);
  return rows.map(toAccount);
}

export async function renameAccount(
  db: Queryable,
  input: { id: string; name: string },
): Promise<void> {
  await db.query('update accounts set name = $2 where id = $1', [input.id, input.name]);
}

/** An empty list allows every origin. */
export async function setAllowedOrigins(
  db: Queryable,
  input: { id: string; origins: readonly string[] },
): Promise<void> {
  await db.query('select set_allowed_origins($1, $2)', [input.id, input.origins]);
}

const ERASE = statement('select erase_account($1) as erased', { erased: t.boolean() });

/** Removes all personal data and keeps the figures. False: a session is reserved or active. */
export async function eraseAccount(db: Queryable, id: string): Promise<boolean> {
  const [row] = await queryRows(db, ERASE, [id]);
  return row?.erased === true;
}

/**
 * A suspended account gets no new sessions and cannot use those it has reserved. False: no such
 * account.
 */
export async function setAccountStatus(
  db: Queryable,
  input: { id: string; status: Account['status'] },
): Promise<boolean> {
  const { rowCount } = await db.query('update accounts set status = $2 where id = $1', [
    input.id,
    input.status,
  ]);
  return rowCount === 1;
}

const SUSPENDED = statement(`select id from accounts where id = any($1) and status <> 'active'`, {
  id: t.text(),
});

/** Returns the given accounts that are not active. */
export async function listSuspended(db: Queryable, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await queryRows(db, SUSPENDED, [ids]);
  return new Set(rows.map((row) => row.id));
}

const ALLOWED_ORIGINS = statement('select allowed_origins from accounts where id = $1', {
  allowed_origins: t.nullable(t.texts()),
});

/** Returns the web origins that may open streams of the account. Null: all. */
export async function listAllowedOrigins(
  db: Queryable,
  accountId: string,
): Promise<readonly string[] | null> {
  const rows = await queryRows(db, ALLOWED_ORIGINS, [accountId]);
  return rows[0]?.allowed_origins ?? null;
}

const SET_KEY_LIMIT = statement('select set_key_limit($1, $2) as found', { found: t.boolean() });

/** Sets how many live keys the account may create. Live keys above a lowered limit keep working. */
export async function setKeyLimit(
  db: Queryable,
  input: { id: string; limit: number },
): Promise<boolean> {
  const [row] = await queryRows(db, SET_KEY_LIMIT, [input.id, input.limit]);
  return row?.found === true;
}

const SET_CONCURRENCY = statement('select set_concurrency($1, $2) as found', {
  found: t.boolean(),
});

/**
 * Sets the concurrency limit. Live sessions above a lowered limit continue, and no new one starts
 * until there is room.
 */
export async function setConcurrency(
  db: Queryable,
  input: { id: string; limit: number },
): Promise<boolean> {
  const [row] = await queryRows(db, SET_CONCURRENCY, [input.id, input.limit]);
  return row?.found === true;
}

function toAccount(row: RowOf<typeof FIND>): Account {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    status: row.status,
    move: row.move,
    concurrencyLimit: row.concurrency_limit,
    keyLimit: row.key_limit,
    allowedOrigins: row.allowed_origins,
    grantedMs: row.granted_ms,
    availableMs: row.available_ms,
    reservedMs: row.reserved_ms,
    consumedMs: row.consumed_ms,
    createdAt: row.created_at,
  };
}
