import { createHmac, hkdfSync, randomInt, randomUUID } from 'node:crypto';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import type { Pepper } from '../keys/peppers.ts';
import { normaliseEmail } from './email-address.ts';

/** A code for signing in, and the challenge that it answers. */
export interface IssuedCode {
  readonly challenge: string;
  readonly code: string;
}

/** A separate key, so that console hashes reveal nothing about API keys. */
export function consoleSecret({ secret }: Pepper): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'svc-asr console', 32));
}

export function newSignInCode(): IssuedCode {
  const digits = CONSOLE_LIMITS.codeDigits;
  return { challenge: randomUUID(), code: String(randomInt(10 ** digits)).padStart(digits, '0') };
}

/** Keyed, because a plain hash of eight digits can be brute-forced at once. */
export function hashSignInCode(secret: Buffer, issued: IssuedCode): Buffer {
  return keyed(secret, `code ${issued.challenge} ${issued.code}`);
}

export function keyed(secret: Buffer, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}

const CREATE = statement(
  `select create_sign_in_code($1, $2, $3, $4 * interval '1 ms') as outcome`,
  { outcome: t.text<'created' | 'not_operator' | 'limit_reached'>() },
);

/** Creates a code that is not emailed, with which an operator signs in once. */
export async function createSignInCode(
  db: Queryable,
  input: { email: string; pepper: Pepper },
): Promise<IssuedCode | 'not_operator' | 'limit_reached'> {
  const issued = newSignInCode();
  const hash = hashSignInCode(consoleSecret(input.pepper), issued);
  const values = [
    normaliseEmail(input.email),
    issued.challenge,
    hash,
    CONSOLE_LIMITS.codeLifetimeMs,
  ];
  const [row] = await queryRows(db, CREATE, values);
  if (row === undefined) throw new Error('create_sign_in_code returned no row.');
  return row.outcome === 'created' ? issued : row.outcome;
}
