import { randomUUID } from 'node:crypto';
import { normaliseEmail } from './email-address.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import { hashEnrolmentCode, newEnrolmentCode } from './enrolment-code.ts';

const SET_OPERATOR = statement('select set_operator($1, $2) as found', { found: t.boolean() });

/**
 * Grants or revokes the operator role. Returns false for an unknown address. A new operator loses the
 * passkeys and sessions they had, because those may be someone else's.
 */
export async function setOperator(
  db: Queryable,
  input: { email: string; isOperator: boolean },
): Promise<boolean> {
  const [row] = await queryRows(db, SET_OPERATOR, [normaliseEmail(input.email), input.isOperator]);
  return row?.found === true;
}

const CREATE_ENROLMENT = statement('select create_enrolment($1, $2, $3) as outcome', {
  outcome: t.text<'created' | 'not_operator' | 'limit_reached'>(),
});

/** Creates a code with which an operator adds a passkey. It works once, for 15 minutes. Only its hash is stored. */
export async function createEnrolment(
  db: Queryable,
  email: string,
): Promise<{ code: string } | 'not_operator' | 'limit_reached'> {
  const code = newEnrolmentCode();
  const values = [normaliseEmail(email), randomUUID(), hashEnrolmentCode(code)];
  const [row] = await queryRows(db, CREATE_ENROLMENT, values);
  if (row === undefined) throw new Error('create_enrolment returned no row.');
  return row.outcome === 'created' ? { code } : row.outcome;
}
