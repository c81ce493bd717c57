import { readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SHA256, type Download } from './download.ts';
import { Hub } from './hub.ts';
import type { ModelSet } from './model-set.ts';
import { Problem } from './problem.ts';

/** A model in the catalogue: its location, author, licence and published figures. */
export interface CatalogueEntry {
  readonly name: string;
  readonly about: string;
  readonly kind: ModelSet['kind'] | 'nemo' | 'lm';
  readonly licence: string;
  readonly licence_url: string;
  readonly made_by: string;
  readonly languages: readonly string[];
  /** Published error rates, each with its source. */
  readonly published: readonly string[];
  readonly notes: string;
  /** A repository of a model hub. Its files are recognised; the other fields add to them. */
  readonly hub?: string;
  /** The size of the download, where it is known. */
  readonly bytes?: number;
  /** Hashes that files of the repository must have, by path, whatever the hub says. */
  readonly hashes?: Readonly<Record<string, string>>;
  /** The commit that was looked up, or another source. */
  readonly source?: string;
  readonly files?: readonly RemoteFile[];
  readonly archive?: RemoteArchive;
  /** Language models among the files, and how to use them. */
  readonly decoding?: ModelSet['decoding'];
}

export interface RemoteFile extends Download {
  readonly as: string;
}

/** A .tar.bz2 archive. `members` maps its files to ours. */
export interface RemoteArchive extends Download {
  readonly folder: string;
  readonly members: Readonly<Record<string, string>>;
}

const OWN = join(import.meta.dirname, '../catalogue.json');
const NAME = /^[a-z0-9][a-z0-9.-]{0,63}$/;
/** One file or folder: no path and no option of a program. */
const FILE_NAME = /^[A-Za-z0-9][\w.-]{0,127}$/;

/**
 * Reads this project's catalogue, or another in the same format, such as your own mirror's. Another one may come from
 * anywhere, so it is checked before anything in it is shown, downloaded or unpacked.
 */
export async function readCatalogue(path = OWN): Promise<readonly CatalogueEntry[]> {
  const text = await readFile(path, 'utf8');
  const folder = await realpath(dirname(path));
  const entries: CatalogueEntry[] = JSON.parse(text, (key, value: unknown) => {
    if (hasControls(key) || (typeof value === 'string' && hasControls(value))) {
      throw new Problem(`${path}: control characters are not allowed.`);
    }
    const isFile = key === 'url' && typeof value === 'string' && value.startsWith('file:');
    return isFile ? besideCatalogue(folder, value) : value;
  });
  for (const entry of entries) {
    const problem = problemOf(entry);
    if (problem !== null) throw new Problem(`${path}: ${entry.name} ${problem}.`);
  }
  return entries;
}

/** The address of a file in the catalogue's own folder: one from elsewhere names no other files of this machine. */
function besideCatalogue(folder: string, url: string): string {
  const file = resolve(folder, url.slice('file:'.length));
  if (file.startsWith(join(folder, '/'))) return pathToFileURL(file).href;
  throw new Problem(
    `${url} is not in the folder of the catalogue. Use file:NAME or file:FOLDER/NAME.`,
  );
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

function problemOf(entry: CatalogueEntry): string | null {
  if (!NAME.test(entry.name)) return 'is not a valid name';
  if (entry.hub !== undefined && !Hub.isAddress(entry.hub)) return 'needs hf:OWNER/NAME as its hub';
  if (!Object.values(entry.hashes ?? {}).every((hash) => SHA256.test(hash))) {
    return 'has an invalid hash';
  }
  for (const { url, bytes, sha256 } of downloadsOf(entry)) {
    const isWeb = URL.canParse(url) && /^(?:https?|file):$/.test(new URL(url).protocol);
    const isWhole = isWeb && bytes > 0 && (sha256 === undefined || SHA256.test(sha256));
    if (!isWhole) return 'needs a url, bytes and a valid sha256';
  }
  const bad = pathsOf(entry).find((name) => !FILE_NAME.test(name));
  return bad === undefined ? null : `has ${bad} in place of a file name`;
}

/** Everything that becomes a file name or an argument of tar. */
function pathsOf({ files = [], archive, decoding = {} }: CatalogueEntry): readonly string[] {
  const members = Object.entries(archive?.members ?? {});
  const inside = members.flatMap(([as, member]) => [as, ...member.split('/')]);
  return [
    ...files.map(({ as }) => as),
    ...(archive === undefined ? [] : [archive.folder]),
    ...inside,
    ...Object.values(decoding).flatMap(({ lm, unigrams }) => [lm ?? [], unigrams ?? []].flat()),
  ];
}

export function downloadsOf(entry: CatalogueEntry): readonly Download[] {
  return [...(entry.files ?? []), ...(entry.archive === undefined ? [] : [entry.archive])];
}

/** The size of the download, or 0 if only the hub knows it. */
export function bytesOf(entry: CatalogueEntry): number {
  return entry.bytes ?? downloadsOf(entry).reduce((sum, file) => sum + file.bytes, 0);
}

export function findEntry(entries: readonly CatalogueEntry[], name: string): CatalogueEntry {
  const found = entries.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  const names = entries.map((entry) => entry.name).join(', ');
  throw new Problem(`There is no ${name} in the catalogue. It has ${names}.`);
}
