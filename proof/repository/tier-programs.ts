import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import type { Need } from './tiers.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODE_PROGRAMS = join(ROOT, 'node_modules/.bin');
const LINKS = join(ROOT, '.cache/basic-programs');

/** Programs of every system with Git and Node, and those of PostgreSQL, which is downloaded if it is missing. */
const BASIC = new Set(
  (
    'awk basename bash cat chmod cp cut date dirname env find flock git grep gzip head hostname id kill ln ls mkdir mktemp mv ' +
    'nice node npm printf pwd readlink realpath rm rmdir sed seq setpriv setsid sh sleep sort stat tail tar tee test timeout ' +
    'touch tr true uname uniq wc which xargs initdb postgres npx'
  ).split(' '),
);

/** A PATH with nothing but these programs and those of npm packages, so that processes that a test starts find no others. */
export function basicPath(): string {
  mkdirSync(LINKS, { recursive: true });
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  for (const name of BASIC) {
    const program = folders.map((folder) => join(folder, name)).find(existsSync);
    const link = join(LINKS, name);
    if (program === undefined || existsSync(link)) continue;
    try {
      symlinkSync(program, link);
    } catch (error) {
      // Another run made it.
      if (Object(error).code !== 'EEXIST') throw error;
    }
  }
  return [NODE_PROGRAMS, LINKS].join(delimiter);
}

/** What a machine must have to run a program, or null if Node, Git and the repository are enough. */
export function needOf(program: string): Need | null {
  const name = basename(program);
  if (/^(?:python|pip|mypy|pytest|ruff)/.test(name)) return 'python';
  if (/^\.cache\/(?!postgres)[^/]+\/bin\//.test(program.replace(`${ROOT}/`, ''))) return 'python';
  if (/^(?:chrom|firefox)/.test(name)) return 'browser';
  if (BASIC.has(name) || existsSync(join(NODE_PROGRAMS, name))) return null;
  const isOwn = program.startsWith(ROOT) || program.startsWith(tmpdir());
  return isAbsolute(program) && (isOwn || !existsSync(program)) ? null : 'programs';
}
