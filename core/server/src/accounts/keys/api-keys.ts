import type { ModelId } from '@svc-asr/protocol';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t, type RowOf } from '../../platform/database/statement.ts';

/** The stored part of a key. The key itself can't be derived from it. */
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
  /** The live key that replaces this one, which is live too. */
  readonly successorId: string | null;
}

/** Everything that authentication needs to know about a key, in one row. */
export interface ApiKeyLookup {
  readonly id: string;
  readonly accountId: string;
  readonly hmac: Buffer;
  readonly pepperId: number;
  readonly scopes: readonly ModelId[] | null;
  /** By the database's clock. */
  readonly expired: boolean;
  /** By the database's clock too. Null: never. */
  readonly expiresInMs: number | null;
  readonly revoked: boolean;
  readonly accountActive: boolean;
  /** The cell that serves the account now. Null: this one. */
  readonly movedTo: string | null;
}

const CREATE = statement('select create_api_key($1, $2, $3, $4, $5, $6, $7::smallint) as created', {
  created: t.boolean(),
});

/** Returns false if the account has as many live keys as it may. Throws if there is no such account. */
export async function insertApiKey(
  db: Queryable,
  key: {
    id: string;
    accountId: string;
    hmac: Buffer;
    /** Which pepper the hash was made with. */
    pepperId?: number;
    name?: string;
    scopes?: readonly ModelId[] | null;
    expiresAt?: Date | null;
  },
): Promise<boolean> {
  const [row] = await queryRows(db, CREATE, [
    key.accountId,
    key.id,
    key.hmac,
    key.name ?? '',
    key.scopes ?? null,
    key.expiresAt ?? null,
    key.pepperId ?? 0,
  ]);
  return row?.created === true;
}

const ROTATE = statement('select rotate_api_key($1, $2, $3, $4, $5, $6::smallint) as outcome', {
  outcome: t.text<'created' | 'not_live' | 'rotated'>(),
});

/** Creates the successor of a live key. `rotated`: it has one, or is one, and both keys are live. */
export async function insertSuccessor(
  db: Queryable,
  key: {
    accountId: string;
    oldId: string;
    id: string;
    hmac: Buffer;
    expiresAt: Date | null;
    pepperId: number;
  },
): Promise<RowOf<typeof ROTATE>['outcome']> {
  const { accountId, oldId, id, hmac, expiresAt, pepperId } = key;
  const [row] = await queryRows(db, ROTATE, [accountId, oldId, id, hmac, expiresAt, pepperId]);
  return row?.outcome ?? 'not_live';
}

const FIND = statement(
  `select k.id, k.account_id, k.hmac, k.pepper_id, k.scopes,
      coalesce(k.expires_at <= clock_timestamp(), false) as expired,
      case when isfinite(k.expires_at) then
        (extract(epoch from k.expires_at - clock_timestamp()) * 1000)::bigint end as expires_in_ms,
      k.revoked_at is not null as revoked, a.status = 'active' as account_active,
      case when a.move_state = 'moved' then a.move_cell end as moved_to
    from api_keys k join accounts a on a.id = k.account_id where k.id = $1`,
  {
    id: t.text(),
    account_id: t.text(),
    hmac: t.bytes(),
    pepper_id: t.number(),
    scopes: t.nullable(t.texts<ModelId>()),
    expired: t.boolean(),
    expires_in_ms: t.nullable(t.number()),
    revoked: t.boolean(),
    account_active: t.boolean(),
    moved_to: t.nullable(t.text()),
  },
  { name: 'find_api_key' },
);

/** Returns null for an unknown id. */
export async function findApiKey(db: Queryable, id: string): Promise<ApiKeyLookup | null> {
  const [row] = await queryRows(db, FIND, [id]);
  if (row === undefined) return null;
  return {
    id: row.id,
    accountId: row.account_id,
    hmac: row.hmac,
    pepperId: row.pepper_id,
    scopes: row.scopes,
    expired: row.expired,
    expiresInMs: row.expires_in_ms,
    revoked: row.revoked,
    accountActive: row.account_active,
    movedTo: row.moved_to,
  };
}

const LIST = statement(
  `select id, account_id, name, scopes, created_at, expires_at, revoked_at, last_used_at,
      (select s.id from api_keys s where s.account_id = k.account_id and s.created_at > k.created_at
        and (s.live_number + 1) / 2 = (k.live_number + 1) / 2
        and least(s.expires_at, k.expires_at, 'infinity') > clock_timestamp()) as successor_id
    from api_keys k where account_id = $1 order by live_number is null, created_at desc limit 300`,
  {
    id: t.text(),
    account_id: t.text(),
    name: t.text(),
    scopes: t.nullable(t.texts<ModelId>()),
    created_at: t.timestamp(),
    expires_at: t.nullable(t.timestamp()),
    revoked_at: t.nullable(t.timestamp()),
    last_used_at: t.nullable(t.timestamp()),
    successor_id: t.nullable(t.text()),
  },
);

/** Live ones first, the newest of them at the top, including expired and revoked keys. */
export async function listApiKeys(db: Queryable, accountId: string): Promise<ApiKeyRecord[]> {
  const rows = await queryRows(db, LIST, [accountId]);
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    scopes: row.scopes,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    successorId: row.successor_id,
  }));
}

const REVOKE = statement('select revoke_api_key($1, $2) as revoked', { revoked: t.boolean() });

/** Returns false if the account has no such key. Revoking twice is allowed. */
export async function revokeApiKey(
  db: Queryable,
  key: { accountId: string; id: string },
): Promise<boolean> {
  const [row] = await queryRows(db, REVOKE, [key.accountId, key.id]);
  return row?.revoked === true;
}

const RENAME = statement('select rename_api_key($1, $2, $3) as renamed', { renamed: t.boolean() });

/** Returns false if the account has no such key. */
export async function renameApiKey(
  db: Queryable,
  key: { accountId: string; id: string; name: string },
): Promise<boolean> {
  const [row] = await queryRows(db, RENAME, [key.accountId, key.id, key.name]);
  return row?.renamed === true;
}

/**
 * Records that these keys were used. Call it periodically with a batch, never while serving a
 * request.
 */
export async function touchApiKeys(db: Queryable, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.query('select touch_api_keys($1)', [ids]);
}

/** Replaces the hash of a verified key, unless it changed meanwhile. */
export async function rehashApiKey(
  db: Queryable,
  key: { id: string; oldHmac: Buffer; hmac: Buffer; pepperId: number },
): Promise<void> {
  await db.query('select rehash_api_key($1, $2, $3, $4::smallint)', [
    key.id,
    key.oldHmac,
    key.hmac,
    key.pepperId,
  ]);
}

const COUNT_BY_PEPPER = statement(
  `select pepper_id, count(*) as live_keys from api_keys
    where revoked_at is null and (expires_at is null or expires_at > clock_timestamp())
    group by pepper_id order by pepper_id`,
  { pepper_id: t.number(), live_keys: t.number() },
);

/** Counts the live keys hashed with each pepper. */
export function countKeysByPepper(db: Queryable): Promise<RowOf<typeof COUNT_BY_PEPPER>[]> {
  return queryRows(db, COUNT_BY_PEPPER);
}
