import { normaliseEmail } from './email-address.ts';
import type { Queryable } from '../platform/db.ts';
import { boolean, queryRows, statement } from '../platform/statement.ts';

const SET_OPERATOR = statement('select set_operator($1, $2) as found', { found: boolean() });

/**
 * Grants or revokes the operator role. Returns false for an unknown address. A new operator is signed
 * out of sessions longer than an operator's may be.
 */
export async function setOperator(
  db: Queryable,
  input: { email: string; isOperator: boolean },
): Promise<boolean> {
  const [row] = await queryRows(db, SET_OPERATOR, [normaliseEmail(input.email), input.isOperator]);
  return row?.found === true;
}
