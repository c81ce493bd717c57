import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/console.ts';

/**
 * `__Host-` makes the browser itself refuse the cookie unless it is Secure, for this host alone and for
 * all paths. A neighbouring subdomain can't plant one.
 */
const SESSION = '__Host-svc_console';
const CHALLENGE = '__Host-svc_passkey';
const DEVICE = '__Host-svc_device';
const DEVICE_SECONDS = 180 * 24 * 3_600;
const FLAGS = 'Path=/; HttpOnly; Secure';
/** 256 bits. */
const VALUE = /^[A-Za-z0-9_-]{43}$/;

export function sessionCookie(token: string): string {
  return `${SESSION}=${token}; ${FLAGS}; SameSite=Lax; Max-Age=${CONSOLE_LIMITS.sessionLifetimeMs / 1_000}`;
}

export const CLEARED_COOKIE = `${SESSION}=; ${FLAGS}; SameSite=Lax; Max-Age=0`;

export function readSessionToken(header: string | undefined): string | null {
  return readCookie(SESSION, header);
}

/** The passkey challenge issued to this browser. */
export function challengeCookie(challenge: string): string {
  const seconds = CONSOLE_LIMITS.passkeyChallengeLifetimeMs / 1_000;
  return `${CHALLENGE}=${challenge}; ${FLAGS}; SameSite=Strict; Max-Age=${seconds}`;
}

export const CLEARED_CHALLENGE = `${CHALLENGE}=; ${FLAGS}; SameSite=Strict; Max-Age=0`;

export function readChallenge(header: string | undefined): string | null {
  return readCookie(CHALLENGE, header);
}

/** Marks a browser in which someone has signed in. It opens nothing: see known-device.ts. */
export function deviceCookie(token: string): string {
  return `${DEVICE}=${token}; ${FLAGS}; SameSite=Strict; Max-Age=${DEVICE_SECONDS}`;
}

export function readDeviceToken(header: string | undefined): string | null {
  return readCookie(DEVICE, header);
}

/** Null unless there is exactly one value of the right shape. */
function readCookie(name: string, header: string | undefined): string | null {
  const values = (header ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  const [value, ...others] = values;
  if (value === undefined || others.length > 0 || !VALUE.test(value)) return null;
  return value;
}
