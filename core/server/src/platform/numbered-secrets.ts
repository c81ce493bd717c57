/** A secret, and the number that tells which of several was used. */
export interface NumberedSecret {
  readonly id: number;
  readonly secret: Buffer;
}

/** The first secret is used for new work. All of them verify. */
export type NumberedSecrets = readonly [NumberedSecret, ...NumberedSecret[]];

export const SECRET_BYTES_MIN = 32;
const ID_MAX = 255;

/** Reads a comma-separated list. Returns null unless every id is valid and unique and every secret is long enough. */
export function parseNumberedSecrets(
  text: string,
  format: { idMin: number; split: (entry: string) => readonly string[] },
): NumberedSecrets | null {
  const secrets = text.split(',').map((entry) => {
    const [id = '', base64 = ''] = format.split(entry);
    return { id: Number(id), secret: Buffer.from(base64, 'base64') };
  });
  const valid = secrets.every(
    ({ id, secret }) =>
      Number.isInteger(id) &&
      id >= format.idMin &&
      id <= ID_MAX &&
      secret.byteLength >= SECRET_BYTES_MIN,
  );
  const isUnique = new Set(secrets.map(({ id }) => id)).size === secrets.length;
  const [first, ...rest] = secrets;
  return first !== undefined && valid && isUnique ? [first, ...rest] : null;
}
