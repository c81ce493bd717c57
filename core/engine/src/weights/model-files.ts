import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';

/** Larger files are weights, which are hashed without holding them in memory. */
const HELD_BYTES_MAX = 1024 * 1024 * 1024;
const READ_BYTES = 1024 * 1024;

export interface ModelFileContent {
  readonly sha256: string;
  /** Null for files too large to hold. */
  readonly bytes: Buffer | null;
}

/** Reads files below the models directory. Models may share weights, so every file is read once. */
export class ModelFiles {
  readonly #root: string;
  readonly #read = new Map<string, Promise<ModelFileContent | null>>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Resolves symlinks. Returns null if the path leaves the models directory. */
  async resolve(path: string): Promise<string | null> {
    const named = resolve(this.#root, path);
    const root = await realpath(this.#root);
    // A file that does not exist is reported by `read`.
    const real = await realpath(named).catch(() => null);
    const isInside = isBelow(this.#root, named) && (real === null || isBelow(root, real));
    return isInside ? (real ?? named) : null;
  }

  /** Null when the file cannot be read. */
  read(path: string): Promise<ModelFileContent | null> {
    const whole = resolve(this.#root, path);
    const known = this.#read.get(whole) ?? readAndHash(whole).catch(() => null);
    this.#read.set(whole, known);
    return known;
  }
}

/** Returns the first file whose hash has changed since it was checked, or null. */
export async function findChangedFile(
  sha256ByPath: ReadonlyMap<string, string>,
): Promise<string | null> {
  for (const [path, sha256] of sha256ByPath) {
    const found = await hashFile(path).catch(() => null);
    if (found !== sha256) return path;
  }
  return null;
}

function isBelow(root: string, path: string): boolean {
  return relative(root, path).split(sep)[0] !== '..';
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path, { highWaterMark: READ_BYTES })) hash.update(part);
  return hash.digest('hex');
}

async function readAndHash(path: string): Promise<ModelFileContent> {
  if ((await stat(path)).size > HELD_BYTES_MAX) {
    return { sha256: await hashFile(path), bytes: null };
  }
  const bytes = await readFile(path);
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes };
}
