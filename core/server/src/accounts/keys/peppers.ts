import {
  parseNumberedSecrets,
  type NumberedSecret,
  type NumberedSecrets,
} from '../../platform/numbered-secrets.ts';

/**
 * Mixed into the hash of every API key, so that a copy of the database alone verifies nothing. Its id is stored with
 * each key.
 */
export type Pepper = NumberedSecret;

/** The first pepper hashes new keys. All of them verify. */
export type Peppers = NumberedSecrets;

/** Reads SECRET (which has the id 0) or ID:SECRET[,ID:SECRET...]. */
export function parsePeppers(text: string): Peppers | null {
  return parseNumberedSecrets(text, { idMin: 0, split: splitPepper });
}

function splitPepper(entry: string): readonly string[] {
  const [, id = '0', base64 = ''] = /^(?:(\d{1,3}):)?([^:]*)$/.exec(entry) ?? [];
  return [id, base64];
}
