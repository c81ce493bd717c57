import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/console.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import {
  hashSignInCode,
  keyed,
  newSignInCode,
  type IssuedCode,
} from '../../accounts/people/sign-in-code.ts';
import type { Places } from './known-device.ts';

const REQUEST = statement(
  `select request_sign_in_code($1, $2, $3, $4, $5, $6, $7 * interval '1 ms') as wait_seconds`,
  { wait_seconds: t.number() },
);
const SPEND = statement('select use_sign_in_code($1, $2, $3) as user_id', {
  user_id: t.nullable(t.text()),
});

/**
 * Creates a code for this address, even for an unknown one. Rows, limits and work are the same, so that neither the
 * response nor its time reveals who has an account. Returns the seconds to wait if there were too many.
 */
export async function issueCode(
  db: Queryable,
  input: { secrets: readonly Buffer[]; userId: string | null; email: string; places: Places },
): Promise<IssuedCode | { retryAfterSeconds: number }> {
  const [secret] = input.secrets;
  if (secret === undefined) throw new Error('No secret is configured for hashing codes.');
  const issued = newSignInCode();
  const [row] = await queryRows(db, REQUEST, [
    issued.challenge,
    input.userId,
    keyed(secret, `email ${input.email}`),
    input.places.network,
    input.places.device,
    hashSignInCode(secret, issued),
    CONSOLE_LIMITS.codeLifetimeMs,
  ]);
  if (row === undefined) throw new Error('request_sign_in_code returned no row.');
  return row.wait_seconds === 0 ? issued : { retryAfterSeconds: row.wait_seconds };
}

/** Returns the user's id the first time, else null. */
export async function spendCode(
  db: Queryable,
  input: { secrets: readonly Buffer[] } & IssuedCode,
): Promise<string | null> {
  const [row] = await queryRows(db, SPEND, [
    input.challenge,
    input.secrets.map((secret) => hashSignInCode(secret, input)),
    CONSOLE_LIMITS.codeTries,
  ]);
  return row?.user_id ?? null;
}
