import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadsOf, type CatalogueEntry, type RemoteFile } from './catalogue.ts';
import { SHA256, type Download } from './download.ts';
import { Problem } from './problem.ts';

/** Hidden, and without .json at its end, so that it is taken neither for a model nor for a manifest. */
const FILE = '.pins';

/** Hashes of files that were accepted without one, by address. A file that changes later is refused. */
export class HashPins {
  readonly #path: string;
  readonly #pins: Map<string, string>;

  private constructor(path: string, pins: Map<string, string>) {
    this.#path = path;
    this.#pins = pins;
  }

  static async read(modelsDir: string): Promise<HashPins> {
    const path = join(modelsDir, FILE);
    const text = await readFile(path, 'utf8').catch(() => '{}');
    const pins: Record<string, string> = JSON.parse(text);
    return new HashPins(path, new Map(Object.entries(pins)));
  }

  get(url: string): string | undefined {
    return this.#pins.get(url);
  }

  async add(url: string, sha256: string): Promise<void> {
    if (this.#pins.get(url) === sha256) return;
    this.#pins.set(url, sha256);
    const text = JSON.stringify(Object.fromEntries(this.#pins), null, 2);
    await writeFile(`${this.#path}.new`, `${text}\n`);
    await rename(`${this.#path}.new`, this.#path);
  }
}

/**
 * The hashes to expect of files that have none in the catalogue, by address: given ones, then pinned ones. Throws if one is
 * missing and the first download isn't trusted.
 */
export function expectedHashes(
  entry: CatalogueEntry,
  input: {
    readonly sha256: readonly string[];
    readonly trustFirstDownload: boolean;
    readonly pins: HashPins;
  },
): ReadonlyMap<string, string> {
  const unknown = new Map<string, string>(
    downloadsOf(entry).flatMap((remote) =>
      isHashed(remote) ? [] : [[fileOf(remote), remote.url] as const],
    ),
  );
  const given = parseGiven(input.sha256, [...unknown.keys()]);
  const expected = new Map<string, string>();
  const missing: string[] = [];
  for (const [as, url] of unknown) {
    const sha256 = given.get(as) ?? input.pins.get(url);
    if (sha256 !== undefined) expected.set(url, sha256);
    else missing.push(as);
  }
  if (missing.length === 0 || input.trustFirstDownload) return expected;
  const example = missing.map((as) => `--sha256 ${as}=HEX`).join(' ');
  throw new Problem(
    `The catalogue has no hash for ${missing.join(', ')} of ${entry.name}. If you know the hashes, add ${example}. ` +
      'Otherwise --trust-first-download accepts what arrives and refuses anything else from then on.',
  );
}

export function isHashed({ sha256, git_sha1: git }: Download): boolean {
  return sha256 !== undefined || git !== undefined;
}

function fileOf(remote: Download | RemoteFile): string {
  return 'as' in remote ? remote.as : 'archive';
}

function parseGiven(pairs: readonly string[], unknown: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const pair of pairs) {
    const [as = '', hex = ''] = pair.split('=');
    if (!SHA256.test(hex)) throw new Problem(`--sha256 ${pair}: use FILE=HEX with 64 hex digits.`);
    if (!unknown.includes(as)) {
      throw new Problem(
        `--sha256 ${as}: only for files without a hash: ${unknown.join(', ') || 'none'}.`,
      );
    }
    given.set(as, hex);
  }
  return given;
}
