/** Names and numbers that the console's pages and its server share. The schemas are in console.ts. */

export const CONSOLE_LIMITS = {
  codeDigits: 8,
  codeLifetimeMs: 10 * 60_000,
  codeTries: 5,
  sessionLifetimeMs: 14 * 24 * 3_600_000,
  liveKeys: 2,
  /** Of a key or a passkey. */
  nameLength: 60,
  keyExpiryDaysMax: 365,
  members: 20,
  passkeys: 10,
  passkeyChallengeLifetimeMs: 5 * 60_000,
  allowedOrigins: 20,
  usageDays: 30,
} as const;

/** Errors of the console alone; everything else is one of API_ERRORS. */
export const CONSOLE_ERRORS = {
  not_signed_in: { status: 401, message: 'You are not signed in, or your session has ended.' },
  wrong_code: {
    status: 400,
    message: 'This code is wrong, used or too old. Check it, or ask for a new one.',
  },
  passkey_refused: {
    status: 400,
    message: 'This passkey was not accepted. Try again, or sign in with a code by e-mail.',
  },
  passkey_limit_reached: {
    status: 409,
    message: 'You have ten passkeys already. Remove one before you add another.',
  },
  cross_site_request: { status: 403, message: 'This request did not come from the console.' },
  owner_only: { status: 403, message: 'Only an owner of this account may do this.' },
  not_found: { status: 404, message: 'This does not exist (any more). Load the page again.' },
  key_limit_reached: {
    status: 409,
    message: 'Two keys are live already. Revoke one before you create another.',
  },
  key_not_live: { status: 409, message: 'This key has been revoked or has expired.' },
  already_member: { status: 409, message: 'This address already has access to an account.' },
  member_limit_reached: { status: 409, message: 'A team has at most 20 members.' },
  last_owner: { status: 409, message: 'An account keeps at least one owner.' },
  erasure_not_confirmed: {
    status: 400,
    message: 'Type your own e-mail address to confirm the erasure.',
  },
  session_in_progress: {
    status: 409,
    message: 'A session is reserved or live. End it, then erase the account.',
  },
} as const satisfies Record<string, { status: number; message: string }>;
export type ConsoleErrorCode = keyof typeof CONSOLE_ERRORS;

export const CONSOLE_LANGUAGES = ['en', 'sw'] as const;
export type ConsoleLanguage = (typeof CONSOLE_LANGUAGES)[number];

export const ROLES = ['owner', 'member'] as const;
export type Role = (typeof ROLES)[number];
