import { EMAIL_LENGTH_MAX, EMAIL_PATTERN } from '@svc-asr/protocol/console/constants.ts';

const EMAIL = new RegExp(EMAIL_PATTERN);

/**
 * Returns the normal form of an email address, or null if the text isn't one. This is the only
 * place that normalises addresses: SQL compares and hashes them as they are, and a constraint
 * refuses any other form. Only ASCII is accepted, so lower case means the same everywhere.
 */
export function parseEmail(text: string): string | null {
  return text.length <= EMAIL_LENGTH_MAX && EMAIL.test(text) ? text.toLowerCase() : null;
}

/** For addresses that a schema has already checked. Throws for any other text. */
export function normaliseEmail(text: string): string {
  const email = parseEmail(text);
  if (email === null) throw new TypeError('This is not an email address.');
  return email;
}
