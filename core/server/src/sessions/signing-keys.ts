import { parseNumberedSecrets, type NumberedSecrets } from '../platform/numbered-secrets.ts';

/** The first key signs. All of them verify. The id of a key is the byte that a credential names it by. */
export type SigningKeys = NumberedSecrets;

/** Reads ID:SECRET[,ID:SECRET...]. */
export function parseSigningKeys(text: string): SigningKeys | null {
  return parseNumberedSecrets(text, { idMin: 1, split: (entry) => entry.split(':') });
}
