import { stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { glob, isDynamicPattern } from 'tinyglobby';
import { UsageError } from './command.ts';

export interface InputFile {
  /** As it is shown. `-` is standard input. */
  readonly path: string;
  /** The path relative to its folder or pattern, used again in the output folder. */
  readonly name: string;
}

export const STDIN = '-';

/** Endings that are looked for in folders. A file that is named itself may have any ending. */
const MEDIA_ENDINGS =
  'wav,mp3,m4a,aac,ogg,oga,opus,flac,wma,amr,3gp,aiff,aif,mp4,m4v,mov,mkv,webm,avi';

/** Expands folders and patterns to files, in a stable order and each file once. */
export async function expandInputs(
  inputs: readonly string[],
  options: { recursive: boolean },
): Promise<InputFile[]> {
  const files: InputFile[] = [];
  for (const input of inputs) files.push(...(await expand(input, options.recursive)));
  const seen = new Set<string>();
  return files.filter(({ path }) => !seen.has(path) && seen.add(path));
}

async function expand(input: string, recursive: boolean): Promise<InputFile[]> {
  if (input === STDIN) return [{ path: STDIN, name: 'stdin' }];
  const info = await stat(input).catch(() => null);
  if (info?.isDirectory() === true) return inFolder(input, recursive);
  // Not every name with brackets or stars is a pattern.
  if (info !== null || !isDynamicPattern(input)) return [{ path: input, name: basename(input) }];
  const paths = await glob(toPattern(input), { expandDirectories: false, onlyFiles: true });
  if (paths.length === 0) throw new UsageError(`No files match ${input}.`);
  const base = fixedFolder(input);
  return named(paths.map(fromPattern), base);
}

async function inFolder(folder: string, recursive: boolean): Promise<InputFile[]> {
  const pattern = `${recursive ? '**/' : ''}*.{${MEDIA_ENDINGS}}`;
  const found = await glob(pattern, { cwd: folder, caseSensitiveMatch: false });
  if (found.length === 0) {
    const hint = recursive ? '' : ' Add --recursive to search its subfolders.';
    throw new UsageError(`No audio or video files in ${folder}.${hint}`);
  }
  return named(
    found.map((name) => join(folder, fromPattern(name))),
    folder,
  );
}

function named(paths: readonly string[], base: string): InputFile[] {
  const files = paths.map((path) => ({ path, name: relative(base, path) }));
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The part of a pattern before its first wildcard. */
function fixedFolder(pattern: string): string {
  const parts = toPattern(pattern).split('/');
  const first = parts.findIndex((part) => isDynamicPattern(part));
  return parts.slice(0, first).join(sep) || '.';
}

/** Patterns use `/` on every system. */
function toPattern(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}

function fromPattern(path: string): string {
  return sep === '/' ? path : path.replaceAll('/', sep);
}
