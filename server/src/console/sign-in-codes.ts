import { createHmac, randomInt, randomUUID } from 'node:crypto';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console.ts';
import type { Queryable } from '../db.ts';

/** A code as it is mailed. `null` when too many were asked for. */
export interface IssuedCode {
  readonly challenge: string;
  readonly code: string;
}

/**
 * Makes a code for this address, also when nobody has it: the rows, the limits and the work are the same, so that
 * neither the answer nor its time tells who has an account.
 */
export async function issueCode(
  db: Queryable,
  input: { secret: Buffer; userId: string | null; email: string; source: string },
): Promise<IssuedCode | null> {
  const challenge = randomUUID();
  const code = String(randomInt(10 ** CONSOLE_LIMITS.codeDigits)).padStart(
    CONSOLE_LIMITS.codeDigits,
    '0',
  );
  const { rows } = await db.query<{ created: boolean }>(
    `select create_sign_in_code($1, $2, $3, $4, $5, $6 * interval '1 ms') as created`,
    [
      challenge,
      input.userId,
      keyed(input.secret, `email ${input.email.toLowerCase()}`),
      keyed(input.secret, `source ${input.source}`),
      hashCode(input.secret, { challenge, code }),
      CONSOLE_LIMITS.codeLifetimeMs,
    ],
  );
  return rows[0]?.created === true ? { challenge, code } : null;
}

/** The user's id, once. */
export async function spendCode(
  db: Queryable,
  input: { secret: Buffer } & IssuedCode,
): Promise<string | null> {
  const { rows } = await db.query<{ user_id: string | null }>(
    'select use_sign_in_code($1, $2, $3) as user_id',
    [input.challenge, hashCode(input.secret, input), CONSOLE_LIMITS.codeTries],
  );
  return rows[0]?.user_id ?? null;
}

/** Keyed, because eight digits alone are found from a plain hash in a blink. */
function hashCode(secret: Buffer, issued: IssuedCode): Buffer {
  return keyed(secret, `code ${issued.challenge} ${issued.code}`);
}

function keyed(secret: Buffer, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}
