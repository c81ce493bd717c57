import { randomUUID } from 'node:crypto';
import type { Queryable } from '../db.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly status: 'active' | 'suspended';
  readonly concurrencyLimit: number;
  /** Null: a browser may stream from any origin. */
  readonly allowedOrigins: readonly string[] | null;
  readonly grantedMs: number;
  readonly availableMs: number;
  readonly reservedMs: number;
  readonly consumedMs: number;
  readonly createdAt: Date;
}

interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly status: 'active' | 'suspended';
  readonly concurrency_limit: number;
  readonly allowed_origins: string[] | null;
  readonly granted_ms: number;
  readonly available_ms: number;
  readonly reserved_ms: number;
  readonly consumed_ms: number;
  readonly created_at: Date;
}

const COLUMNS = `id, name, email, status, concurrency_limit, allowed_origins,
  granted_ms, available_ms, reserved_ms, consumed_ms, created_at`;

/** Begins empty: credit comes by a grant, which says why. */
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
  const { rows } = await db.query<AccountRow>(`select ${COLUMNS} from accounts where id = $1`, [
    id,
  ]);
  return rows[0] === undefined ? null : toAccount(rows[0]);
}

/** Newest first. */
export async function listAccounts(db: Queryable, limit: number): Promise<Account[]> {
  const { rows } = await db.query<AccountRow>(
    `select ${COLUMNS} from accounts order by created_at desc limit $1`,
    [limit],
  );
  return rows.map(toAccount);
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

/** Those among the given accounts that may no longer stream. */
export async function listSuspended(db: Queryable, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const { rows } = await db.query<{ id: string }>(
    `select id from accounts where id = any($1) and status <> 'active'`,
    [ids],
  );
  return new Set(rows.map((row) => row.id));
}

/**
 * Sessions that live already stay, even above a lowered limit; none is added until they are below
 * it.
 */
export async function setConcurrency(
  db: Queryable,
  input: { id: string; limit: number },
): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>('select set_concurrency($1, $2) as found', [
    input.id,
    input.limit,
  ]);
  return rows[0]?.found === true;
}

function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    status: row.status,
    concurrencyLimit: row.concurrency_limit,
    allowedOrigins: row.allowed_origins,
    grantedMs: row.granted_ms,
    availableMs: row.available_ms,
    reservedMs: row.reserved_ms,
    consumedMs: row.consumed_ms,
    createdAt: row.created_at,
  };
}
