import { createHmac } from 'node:crypto';
import type { Queryable } from '../platform/database/db.ts';
import { queryRows, statement, t } from '../platform/database/statement.ts';
import type { Pepper, Peppers } from './keys/peppers.ts';

/** The two-character prefix of every key id created in the cell. Lower case, because it is also a host name. */
export const CELL_ID = /^[0-9a-z]{2}$/;

const FIND = statement('select id from cell', { id: t.text() });
const SET = statement('select set_cell($1) as cell', { cell: t.text() });

/** Null: a single-cell service, whose keys contain no cell name. */
export async function findCell(db: Queryable): Promise<string | null> {
  const [row] = await queryRows(db, FIND, []);
  return row?.id ?? null;
}

/** Names this database's cell unless it already has a name. Returns the cell's name. */
export async function setCell(db: Queryable, id: string): Promise<string> {
  const [row] = await queryRows(db, SET, [id]);
  return row?.cell ?? id;
}

/**
 * Records which peppers this process knows, so that an account moves only to a cell that can verify its
 * keys. A fingerprint reveals nothing about the secret.
 */
export async function reportPeppers(db: Queryable, peppers: Peppers): Promise<void> {
  await db.query('select report_peppers($1::smallint[], $2::bytea[])', [
    peppers.map(({ id }) => id),
    peppers.map(({ secret }) => fingerprint(secret)),
  ]);
}

const REPORTED = statement('select pepper_id, fingerprint from cell_peppers', {
  pepper_id: t.number(),
  fingerprint: t.bytes(),
});

/** Whether the service last started with this pepper. Null: the service never started with this database. */
export async function isReportedPepper(db: Queryable, pepper: Pepper): Promise<boolean | null> {
  const rows = await queryRows(db, REPORTED, []);
  if (rows.length === 0) return null;
  const reported = rows.find((row) => row.pepper_id === pepper.id);
  return reported?.fingerprint.equals(fingerprint(pepper.secret)) === true;
}

function fingerprint(secret: Buffer): Buffer {
  return createHmac('sha256', secret).update('svc-asr pepper').digest().subarray(0, 8);
}
