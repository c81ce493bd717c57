/** Names and numbers shared by the console's pages and its server. The schemas are in console.ts. */

/**
 * One address that every mail server accepts: ASCII without quotes, comments or control characters.
 * The same rule as a browser's own `<input type="email">`, with a dot in the domain.
 */
export const EMAIL_PATTERN =
  "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@" +
  '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)+$';
export const EMAIL_LENGTH_MAX = 254;

/** A web origin: no path, no query. */
export const ORIGIN_PATTERN = '^https?://[!-.0-~]+$';
export const ORIGIN_LENGTH_MAX = 200;

/** The public id of a key, or `none` for the playground. */
export const KEY_FILTER_PATTERN = '^(?:none|[0-9A-Za-z]{12})$';

/** Filters of the audit log for operators. */
export const AUDIT_KINDS = [
  'credit',
  'accounts',
  'keys',
  'people',
  'sign_ins',
  'operators',
] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

export const CONSOLE_LIMITS = {
  codeDigits: 8,
  codeLifetimeMs: 10 * 60_000,
  codeTries: 5,
  sessionLifetimeMs: 14 * 24 * 3_600_000,
  /** The most an operator can grant with one approval on the console. */
  approvalMinutes: 600,
  /** Of one bulk decision about the waitlist, and of a page of an operator's list. */
  operatorRowsPerPage: 50,
  /** Of the reason that an operator gives. */
  reasonLength: 300,
  concurrencyMax: 10_000,
  /** The most that one request for credit can ask for. */
  creditRequestMinutes: 600,
  creditRequestText: 500,
  /** Of one account. */
  creditRequestsPerDay: 3,
  /** Live keys of an account, unless an operator changes its limit. */
  liveKeys: 10,
  keyLimitMax: 100,
  /** Maximum length of the name of a key or passkey. */
  nameLength: 60,
  keyExpiryDaysMax: 365,
  /** Of one account, open invitations included. */
  members: 20,
  /** From one account. */
  invitationsPerDay: 10,
  /** To one address, from all accounts together. */
  invitationEmailsPerDay: 3,
  passkeys: 10,
  passkeyChallengeLifetimeMs: 5 * 60_000,
  allowedOrigins: 20,
  usageDays: 30,
  /** Of one session of the demo on the public page. */
  demoSeconds: 20,
  sessionsPerPage: 50,
  callsPerPage: 50,
  /** How long calls are listed on the Log page. */
  callLogDays: 7,
  /** Rows of a downloaded file. */
  csvRows: 10_000,
  /** How long the details of a stream are kept. */
  sessionDetailsDays: 30,
} as const;

/** Errors that only the console returns. All others are in API_ERRORS. */
export const CONSOLE_ERRORS = {
  not_signed_in: {
    status: 401,
    message: 'You are not signed in, or your session has ended. Sign in again.',
  },
  wrong_code: {
    status: 400,
    message: 'Incorrect or expired code. Check it, or request a new one.',
  },
  email_not_configured: {
    status: 503,
    message:
      'This service is not set up to send email. Sign in with a passkey, or ask its operator to set SMTP_URL.',
  },
  passkey_refused: {
    status: 400,
    message: 'This passkey was not accepted. Try again, or sign in with an email code.',
  },
  passkey_limit_reached: {
    status: 409,
    message: 'You already have ten passkeys. Remove one before you add another.',
  },
  cross_site_request: { status: 403, message: 'This request did not come from the console.' },
  passkey_required: {
    status: 403,
    message: 'Operators sign in with a passkey. Add one in the settings, then sign in with it.',
  },
  enrolment_required: {
    status: 403,
    message: 'Operators add their first passkey with a code from `svc-admin operators enrol`.',
  },
  wrong_enrolment_code: {
    status: 400,
    message: 'Incorrect or expired enrolment code. Check it, or ask for a new one.',
  },
  confirm_first: { status: 403, message: 'Confirm with your passkey, then try again.' },
  credit_limit_reached: {
    status: 409,
    message: 'A grant is at most 10 hours, and an operator grants at most 100 hours a day.',
  },
  credit_request_open: {
    status: 409,
    message: 'This account has an open request for credit. Wait for the answer.',
  },
  credit_request_limit_reached: {
    status: 429,
    message: 'An account can request credit three times a day. Try again tomorrow.',
  },
  owner_only: { status: 403, message: 'Only owners of this account can do this.' },
  not_found: { status: 404, message: 'Not found. Reload the page.' },
  key_limit_reached: {
    status: 409,
    message:
      'This account has as many active keys as it may. Revoke one before you create another.',
  },
  key_already_rotated: {
    status: 409,
    message: 'A rotation of this key is under way. Revoke the old key first.',
  },
  key_not_live: { status: 409, message: 'This key is revoked or expired.' },
  no_account: { status: 403, message: 'You belong to no account. Accept an invitation first.' },
  already_member: { status: 409, message: 'This person is already a member.' },
  already_invited: {
    status: 409,
    message: 'This person is already invited, or declined within the last 30 days.',
  },
  invitation_limit_reached: {
    status: 429,
    message: 'An account can send ten invitations a day. Try again tomorrow.',
  },
  member_limit_reached: {
    status: 409,
    message: 'A team has at most 20 members, open invitations included.',
  },
  last_owner: { status: 409, message: 'An account must have at least one owner.' },
  erasure_not_confirmed: {
    status: 400,
    message: 'Type your own email address to confirm the erasure.',
  },
  demo_used: {
    status: 429,
    message: 'The demo was already used from this network today. Try again tomorrow.',
  },
  demo_closed: {
    status: 503,
    message: 'The demo has no credit left for today. Try again tomorrow.',
  },
  session_in_progress: {
    status: 409,
    message: 'A session is reserved or active. End it, then erase the account.',
  },
} as const satisfies Record<string, { status: number; message: string }>;
export type ConsoleErrorCode = keyof typeof CONSOLE_ERRORS;

export const CONSOLE_LANGUAGES = ['en', 'sw'] as const;
export type ConsoleLanguage = (typeof CONSOLE_LANGUAGES)[number];

export const ROLES = ['owner', 'member'] as const;
export type Role = (typeof ROLES)[number];

export const WAITLIST_STATUSES = ['waiting', 'approved', 'declined'] as const;
export const CREDIT_REQUEST_STATUSES = ['open', 'granted', 'declined'] as const;
/** How far back the list of failures can look: an hour, a day, a week. */
export const FAILURE_HOURS = ['1', '24', '168'] as const;
