import { CONSOLE_LIMITS } from '@svc-asr/protocol/console.ts';

/**
 * `__Host-` makes the browser itself refuse the cookie unless it is Secure, for this host alone and for all paths:
 * no neighbouring subdomain can plant one.
 */
const NAME = '__Host-svc_console';
const FLAGS = 'Path=/; HttpOnly; Secure; SameSite=Lax';
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export function sessionCookie(token: string): string {
  return `${NAME}=${token}; ${FLAGS}; Max-Age=${CONSOLE_LIMITS.sessionLifetimeMs / 1_000}`;
}

export const CLEARED_COOKIE = `${NAME}=; ${FLAGS}; Max-Age=0`;

/** Null unless there is exactly one token of the right shape. */
export function readSessionToken(header: string | undefined): string | null {
  const values = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${NAME}=`))
    .map((part) => part.slice(NAME.length + 1));
  const [token, ...others] = values;
  if (token === undefined || others.length > 0 || !TOKEN.test(token)) return null;
  return token;
}
