import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits as text. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** A random 256-bit token needs no slow hash. A stolen table of hashes gives no access. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
