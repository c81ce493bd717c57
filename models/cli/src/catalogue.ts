import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from './problem.ts';

/** A model in the catalogue: its location, author, licence and published figures. */
export interface CatalogueEntry {
  readonly name: string;
  readonly about: string;
  readonly kind: 'offline_ctc';
  readonly parameters: number;
  readonly licence: string;
  readonly licence_url: string;
  readonly made_by: string;
  readonly languages: readonly string[];
  /** Published error rates, each with its source. */
  readonly published: readonly string[];
  readonly notes: string;
  readonly files?: readonly RemoteFile[];
  readonly archive?: RemoteArchive;
}

export interface RemoteFile extends Download {
  readonly as: string;
}

/** A .tar.bz2 archive. `members` maps its files to ours. */
export interface RemoteArchive extends Download {
  readonly folder: string;
  readonly members: Readonly<Record<string, string>>;
}

export interface Download {
  readonly url: string;
  readonly bytes: number;
  readonly sha256: string;
}

const OWN = join(import.meta.dirname, '../catalogue.json');
const NAME = /^[a-z0-9][a-z0-9.-]{0,63}$/;

/** Reads this project's catalogue, or another in the same format, such as your own mirror's. */
export async function readCatalogue(path = OWN): Promise<readonly CatalogueEntry[]> {
  const entries: CatalogueEntry[] = JSON.parse(await readFile(path, 'utf8'));
  for (const entry of entries) {
    if (!NAME.test(entry.name)) throw new Problem(`${path}: ${entry.name} is not a valid name.`);
    for (const { url, bytes, sha256 } of downloadsOf(entry)) {
      const whole = URL.canParse(url) && bytes > 0 && /^[0-9a-f]{64}$/.test(sha256);
      if (!whole) throw new Problem(`${path}: ${entry.name} needs a url, bytes and a sha256.`);
    }
  }
  return entries;
}

export function downloadsOf(entry: CatalogueEntry): readonly Download[] {
  return [...(entry.files ?? []), ...(entry.archive === undefined ? [] : [entry.archive])];
}

export function findEntry(entries: readonly CatalogueEntry[], name: string): CatalogueEntry {
  const found = entries.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  const names = entries.map((entry) => entry.name).join(', ');
  throw new Problem(`There is no ${name} in the catalogue. It has ${names}.`);
}
