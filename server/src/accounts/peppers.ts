/** Mixed into the hash of every API key, so that a copy of the database alone verifies nothing. */
export interface Pepper {
  /** 0 to 255: stored with each key. */
  readonly id: number;
  readonly secret: Buffer;
}

/** The first pepper hashes new keys. All of them verify. */
export type Peppers = readonly [Pepper, ...Pepper[]];

const SECRET_BYTES_MIN = 32;

/**
 * Reads SECRET (which has the id 0) or ID:SECRET[,ID:SECRET...]. Returns null unless every id is
 * unique and every secret is long enough.
 */
export function parsePeppers(text: string): Peppers | null {
  const peppers = text.split(',').map(parsePepper);
  const valid = peppers.filter((pepper) => pepper !== null);
  const [first, ...rest] = valid;
  const ids = new Set(valid.map(({ id }) => id));
  const complete = valid.length === peppers.length && ids.size === peppers.length;
  return first !== undefined && complete ? [first, ...rest] : null;
}

function parsePepper(entry: string): Pepper | null {
  const [, id = '0', base64 = ''] = /^(?:(\d{1,3}):)?([^:]*)$/.exec(entry) ?? [];
  const pepper = { id: Number(id), secret: Buffer.from(base64, 'base64') };
  return pepper.id <= 255 && pepper.secret.byteLength >= SECRET_BYTES_MIN ? pepper : null;
}
