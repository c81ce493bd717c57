import { randomInt, randomUUID } from 'node:crypto';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/console.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import { keyed, type Places } from './known-device.ts';

const REQUEST = statement(
  `select request_sign_in_code($1, $2, $3, $4, $5, $6, $7 * interval '1 ms') as wait_seconds`,
  { wait_seconds: t.number() },
);
const SPEND = statement('select use_sign_in_code($1, $2, $3) as user_id', {
  user_id: t.nullable(t.text()),
});

/** A code to send by email. */
export interface IssuedCode {
  readonly challenge: string;
  readonly code: string;
}

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
  const challenge = randomUUID();
  const code = String(randomInt(10 ** CONSOLE_LIMITS.codeDigits)).padStart(
    CONSOLE_LIMITS.codeDigits,
    '0',
  );
  const [row] = await queryRows(db, REQUEST, [
    challenge,
    input.userId,
    keyed(secret, `email ${input.email}`),
    input.places.network,
    input.places.device,
    hashCode(secret, { challenge, code }),
    CONSOLE_LIMITS.codeLifetimeMs,
  ]);
  if (row === undefined) throw new Error('request_sign_in_code returned no row.');
  return row.wait_seconds === 0 ? { challenge, code } : { retryAfterSeconds: row.wait_seconds };
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
