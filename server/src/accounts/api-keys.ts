import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../db.ts';

/** What is kept of a key: enough to recognise it, nothing to make it from. */
export interface ApiKeyRecord {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** Null: every model. */
  readonly scopes: readonly ModelId[] | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** All that the front door asks about a key, in one row. */
export interface ApiKeyLookup {
  readonly id: string;
  readonly accountId: string;
  readonly hmac: Buffer;
  readonly scopes: readonly ModelId[] | null;
  /** By the database's clock. */
  readonly expired: boolean;
  /** By the database's clock too. Null: never. */
  readonly expiresInMs: number | null;
  readonly revoked: boolean;
  readonly accountActive: boolean;
}

/** False: the account has its two live keys. Throws when there is no such account. */
export async function insertApiKey(
  db: Queryable,
  key: {
    id: string;
    accountId: string;
    hmac: Buffer;
    name?: string;
    scopes?: readonly ModelId[] | null;
    expiresAt?: Date | null;
  },
): Promise<boolean> {
  const { rows } = await db.query<{ created: boolean }>(
    'select create_api_key($1, $2, $3, $4, $5, $6) as created',
    [key.accountId, key.id, key.hmac, key.name ?? '', key.scopes ?? null, key.expiresAt ?? null],
  );
  return rows[0]?.created === true;
}

interface LookupRow {
  readonly id: string;
  readonly account_id: string;
  readonly hmac: Buffer;
  readonly scopes: ModelId[] | null;
  readonly expired: boolean;
  readonly expires_in_ms: number | null;
  readonly revoked: boolean;
  readonly account_active: boolean;
}

/** Null: nobody was given a key with this id. */
export async function findApiKey(db: Queryable, id: string): Promise<ApiKeyLookup | null> {
  const { rows } = await db.query<LookupRow>({
    name: 'find_api_key',
    text: `select k.id, k.account_id, k.hmac, k.scopes,
        coalesce(k.expires_at <= clock_timestamp(), false) as expired,
        case when isfinite(k.expires_at) then
          (extract(epoch from k.expires_at - clock_timestamp()) * 1000)::bigint end as expires_in_ms,
        k.revoked_at is not null as revoked, a.status = 'active' as account_active
      from api_keys k join accounts a on a.id = k.account_id where k.id = $1`,
    values: [id],
  });
  const row = rows[0];
  if (row === undefined) return null;
  return {
    id: row.id,
    accountId: row.account_id,
    hmac: row.hmac,
    scopes: row.scopes,
    expired: row.expired,
    expiresInMs: row.expires_in_ms,
    revoked: row.revoked,
    accountActive: row.account_active,
  };
}

interface KeyRow {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly scopes: ModelId[] | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
}

/** Newest first, those that no longer work included. */
export async function listApiKeys(db: Queryable, accountId: string): Promise<ApiKeyRecord[]> {
  const { rows } = await db.query<KeyRow>(
    `select id, account_id, name, scopes, created_at, expires_at, revoked_at, last_used_at
      from api_keys where account_id = $1 order by created_at desc limit 100`,
    [accountId],
  );
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    scopes: row.scopes,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  }));
}

/** False: the account has no such key. Revoking twice is fine. */
export async function revokeApiKey(
  db: Queryable,
  key: { accountId: string; id: string },
): Promise<boolean> {
  const { rows } = await db.query<{ revoked: boolean }>(
    'select revoke_api_key($1, $2) as revoked',
    [key.accountId, key.id],
  );
  return rows[0]?.revoked === true;
}

/**
 * Notes that these keys were used. Call it now and then with a batch, never on the path of a
 * request.
 */
export async function touchApiKeys(db: Queryable, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.query('select touch_api_keys($1)', [ids]);
}
