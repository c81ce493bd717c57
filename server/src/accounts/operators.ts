import type { Queryable } from '../db.ts';

/**
 * Whether a console user may decide about the waitlist. False: nobody signs in with this address.
 */
export async function setOperator(
  db: Queryable,
  input: { email: string; isOperator: boolean },
): Promise<boolean> {
  const { rowCount } = await db.query(
    'update console_users set is_operator = $2 where lower(email) = lower($1)',
    [input.email, input.isOperator],
  );
  return rowCount === 1;
}
