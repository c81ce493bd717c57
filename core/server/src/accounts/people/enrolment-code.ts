import { createHash, randomInt } from 'node:crypto';

/** Crockford's base 32: no letter looks like a digit. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 4;
const GROUP_LENGTH = 4;

/** Creates a code of 80 random bits, easy to read out and type: `7K2M-Q9XW-4TBC-E0RD`. */
export function newEnrolmentCode(): string {
  return Array.from({ length: GROUPS }, newGroup).join('-');
}

function newGroup(): string {
  return Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/**
 * Hashes a code as it was typed: spaces, hyphens and case don't matter, and O, I and L count as the
 * digits they look like. 80 random bits that work for 15 minutes need no slow hash.
 */
export function hashEnrolmentCode(typed: string): Buffer {
  const code = typed
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');
  return createHash('sha256').update(`operator enrolment ${code}`).digest();
}
