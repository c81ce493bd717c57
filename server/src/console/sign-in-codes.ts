import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console.ts';
import type { Queryable } from '../platform/db.ts';
import { boolean, nullable, queryRows, statement, text } from '../platform/statement.ts';

const CREATE = statement(
  `select create_sign_in_code($1, $2, $3, $4, $5, $6 * interval '1 ms') as created`,
  { created: boolean() },
);
const SPEND = statement('select use_sign_in_code($1, $2, $3) as user_id', {
  user_id: nullable(text()),
});

/** A code to send by email. */
export interface IssuedCode {
  readonly challenge: string;
  readonly code: string;
}

/**
 * Creates a code for this address, even for an unknown one. Rows, limits and work are the same, so that neither the
 * response nor its time reveals who has an account.
 */
export async function issueCode(
  db: Queryable,
  input: { secrets: readonly Buffer[]; userId: string | null; email: string; source: string },
): Promise<IssuedCode | null> {
  const [secret] = input.secrets;
  if (secret === undefined) throw new Error('No secret is configured for hashing codes.');
  const challenge = randomUUID();
  const code = String(randomInt(10 ** CONSOLE_LIMITS.codeDigits)).padStart(
    CONSOLE_LIMITS.codeDigits,
    '0',
  );
  const [row] = await queryRows(db, CREATE, [
    challenge,
    input.userId,
    keyed(secret, `email ${input.email}`),
    keyed(secret, `source ${input.source}`),
    hashCode(secret, { challenge, code }),
    CONSOLE_LIMITS.codeLifetimeMs,
  ]);
  return row?.created === true ? { challenge, code } : null;
}

/** Returns the user's id the first time, else null. */
export async function spendCode(
  db: Queryable,
  input: { secrets: readonly Buffer[] } & IssuedCode,
): Promise<string | null> {
  const [row] = await queryRows(db, SPEND, [
    input.challenge,
    input.secrets.map((secret) => hashCode(secret, input)),
    CONSOLE_LIMITS.codeTries,
  ]);
  return row?.user_id ?? null;
}

/** Keyed, because a plain hash of eight digits can be brute-forced at once. */
function hashCode(secret: Buffer, issued: IssuedCode): Buffer {
  return keyed(secret, `code ${issued.challenge} ${issued.code}`);
}

function keyed(secret: Buffer, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}
