import { randomBytes } from 'node:crypto';
import { findCell } from '../accounts/cell.ts';
import type { Queryable } from '../platform/database/db.ts';

/** Bytes of the secret. It is stored in both databases and nowhere else. */
const KEY_BYTES = 32;

/**
 * Gives two cells a new secret, with which they sign the accounts that move between them. Both connections must belong
 * to the owner of the schema. Returns the names of the cells, or null if one of the databases has none.
 */
export async function linkCells(
  one: Queryable,
  other: Queryable,
): Promise<readonly [string, string] | null> {
  const [here, there] = [await findCell(one), await findCell(other)];
  if (here === null || there === null || here === there) return null;
  const key = randomBytes(KEY_BYTES);
  await one.query('select link_cell($1, $2)', [there, key]);
  await other.query('select link_cell($1, $2)', [here, key]);
  return [here, there];
}
