import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../platform/database/db.ts';
import { normaliseEmail } from './email-address.ts';
import { queryRows, statement, t, type RowOf } from '../../platform/database/statement.ts';

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
  id: t.text(),
  user_id: t.text(),
  credential_id: t.text(),
  public_key: t.bytes(),
  counter: t.number(),
  transports: t.texts(),
  name: t.text(),
  created_at: t.timestamp(),
  last_used_at: t.nullable(t.timestamp()),
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

/** Why a session may not change passkeys. The database decides it from the session's token. */
export type PasskeyChangeProblem =
  | 'not_signed_in'
  | 'confirm_first'
  | 'enrolment_required'
  | 'wrong_enrolment_code';

const CHANGE_PROBLEM = statement('select passkey_change_problem($1, $2) as problem', {
  problem: t.nullable(t.text<PasskeyChangeProblem>()),
});

/** Returns null if this session may change its person's passkeys. A wrong code counts as an attempt. */
export async function findPasskeyChangeProblem(
  db: Queryable,
  input: { token: string; enrolmentCodeHash: Buffer | null },
): Promise<PasskeyChangeProblem | null> {
  const [row] = await queryRows(db, CHANGE_PROBLEM, [input.token, input.enrolmentCodeHash]);
  return row?.problem ?? null;
}

const ADD = statement('select add_passkey($1, $2, $3, $4, $5, $6, $7, $8, $9) as outcome', {
  outcome: t.text<'added' | 'passkey_refused' | 'passkey_limit_reached' | PasskeyChangeProblem>(),
});

/** Stores a verified device of the session's person, unless it is already known. */
export async function addPasskey(
  db: Queryable,
  input: Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports' | 'name'> & {
    token: string;
    enrolmentCodeHash: Buffer | null;
    limit: number;
  },
): Promise<RowOf<typeof ADD>['outcome']> {
  const [row] = await queryRows(db, ADD, [
    input.token,
    input.enrolmentCodeHash,
    randomUUID(),
    input.credentialId,
    input.publicKey,
    input.counter,
    input.transports,
    input.name,
    input.limit,
  ]);
  if (row === undefined) throw new Error('add_passkey returned no row.');
  return row.outcome;
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

const REMOVE = statement('select remove_passkey($1, $2) as outcome', {
  outcome: t.text<'removed' | 'not_found' | PasskeyChangeProblem>(),
});

/** Removes a passkey of the session's person and signs them out in all other browsers. */
export async function removePasskey(
  db: Queryable,
  input: { token: string; id: string },
): Promise<RowOf<typeof REMOVE>['outcome']> {
  const [row] = await queryRows(db, REMOVE, [input.token, input.id]);
  return row?.outcome ?? 'not_found';
}

const RESET = statement('select reset_passkeys($1) as removed', {
  removed: t.nullable(t.number()),
});

/** Removes all passkeys and sessions of a person. Returns the number of passkeys, or null for an unknown address. */
export async function resetPasskeys(db: Queryable, email: string): Promise<number | null> {
  const [row] = await queryRows(db, RESET, [normaliseEmail(email)]);
  return row?.removed ?? null;
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
