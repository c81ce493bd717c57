import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits as text. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** So many random bits need no slow hash, and a stolen table of hashes opens nothing. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
