import { randomUUID } from 'node:crypto';
import type { Queryable } from '../platform/db.ts';
import {
  bytes,
  nullable,
  number,
  queryRows,
  statement,
  text,
  texts,
  timestamp,
  type RowOf,
} from '../platform/statement.ts';

/** A device that a member signs in with. */
export interface Passkey {
  readonly id: string;
  readonly userId: string;
  readonly credentialId: string;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

const COLUMNS = {
  id: text(),
  user_id: text(),
  credential_id: text(),
  public_key: bytes(),
  counter: number(),
  transports: texts(),
  name: text(),
  created_at: timestamp(),
  last_used_at: nullable(timestamp()),
};
const FIELDS = Object.keys(COLUMNS).join(', ');
const LIST = statement(
  `select ${FIELDS} from passkeys where user_id = $1 order by created_at`,
  COLUMNS,
);
const FIND = statement(`select ${FIELDS} from passkeys where credential_id = $1`, COLUMNS);

export async function listPasskeys(db: Queryable, userId: string): Promise<Passkey[]> {
  const rows = await queryRows(db, LIST, [userId]);
  return rows.map(toPasskey);
}

export async function findPasskey(db: Queryable, credentialId: string): Promise<Passkey | null> {
  const [row] = await queryRows(db, FIND, [credentialId]);
  return row === undefined ? null : toPasskey(row);
}

/** Stores a verified device, unless it is already known. Needs a transaction. */
export async function insertPasskey(
  db: Queryable,
  input: Pick<
    Passkey,
    'userId' | 'credentialId' | 'publicKey' | 'counter' | 'transports' | 'name'
  > & { limit: number },
): Promise<'added' | 'known' | 'limit_reached'> {
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 3))', [input.userId]);
  const passkeys = await listPasskeys(db, input.userId);
  if (passkeys.length >= input.limit) return 'limit_reached';
  const { rowCount } = await db.query(
    `insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name)
        values ($1, $2, $3, $4, $5, $6, $7) on conflict (credential_id) do nothing`,
    [
      randomUUID(),
      input.userId,
      input.credentialId,
      input.publicKey,
      input.counter,
      input.transports,
      input.name,
    ],
  );
  return rowCount === 1 ? 'added' : 'known';
}

/** Returns false if the passkey was used or removed since it was read. */
export async function markPasskeyUsed(
  db: Queryable,
  passkey: Passkey,
  counter: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update passkeys set counter = $3, last_used_at = clock_timestamp()
      where id = $1 and counter = $2`,
    [passkey.id, passkey.counter, counter],
  );
  return rowCount === 1;
}

export async function removePasskey(
  db: Queryable,
  input: { userId: string; id: string },
): Promise<boolean> {
  const { rowCount } = await db.query('delete from passkeys where user_id = $1 and id = $2', [
    input.userId,
    input.id,
  ]);
  return rowCount === 1;
}

function toPasskey(row: RowOf<typeof FIND>): Passkey {
  return {
    id: row.id,
    userId: row.user_id,
    credentialId: row.credential_id,
    publicKey: new Uint8Array(row.public_key),
    counter: row.counter,
    transports: row.transports,
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}
