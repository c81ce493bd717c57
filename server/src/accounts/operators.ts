import { normaliseEmail } from './email-address.ts';
import type { Queryable } from '../platform/db.ts';
import { boolean, queryRows, statement } from '../platform/statement.ts';

const SET_OPERATOR = statement('select set_operator($1, $2) as found', { found: boolean() });

/**
 * Allows a person to decide about the waitlist, or no longer. Returns false for an unknown address.
 * New operators lose sessions that would outlive an operator's.
 */
export async function setOperator(
  db: Queryable,
  input: { email: string; isOperator: boolean },
): Promise<boolean> {
  const [row] = await queryRows(db, SET_OPERATOR, [normaliseEmail(input.email), input.isOperator]);
  return row?.found === true;
}
