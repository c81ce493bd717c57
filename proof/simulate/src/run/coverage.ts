import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(import.meta.dirname, '../../../..');

/** The code that the simulation is meant to reach. */
const COVERED = [
  'core/engine/src/replay/',
  'clients/sdk/src/',
  'core/server/src/gateway/',
  'core/server/src/ledger/',
  'core/server/src/nodes/',
  'core/server/src/sessions/',
];

/** Lines without code: comments, imports, types and closing brackets. */
const NO_CODE = /^(\/\/|\/?\*|import |(export )?(type|interface) |[})\]]+[;,]*$|$)/;

/** As V8 writes it for `NODE_V8_COVERAGE`. */
interface V8Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly Range[] }[];
  }[];
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

export interface FileCoverage {
  readonly file: string;
  readonly lines: number;
  /** Their numbers, from 1. */
  readonly missed: readonly number[];
}

/** Reads what processes wrote to their folder of `NODE_V8_COVERAGE`. A line counts as reached if any of them ran it. */
export async function readCoverage(folder: string): Promise<FileCoverage[]> {
  const reached = new Map<string, Map<number, boolean>>();
  for (const name of await readdir(folder)) {
    const { result }: V8Coverage = JSON.parse(await readFile(join(folder, name), 'utf8'));
    for (const { url, functions } of result) {
      const file = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : '';
      if (!COVERED.some((part) => file.startsWith(part))) continue;
      const source = await readFile(join(ROOT, file), 'utf8');
      const lines = reached.get(file) ?? new Map<number, boolean>();
      reached.set(file, lines);
      const ranges = functions.flatMap((each) => each.ranges);
      for (const [line, isReached] of reachedLines(source, ranges)) {
        lines.set(line, isReached || lines.get(line) === true);
      }
    }
  }
  return [...reached]
    .map(([file, lines]) => ({
      file,
      lines: lines.size,
      missed: [...lines].filter(([, isReached]) => !isReached).map(([line]) => line),
    }))
    .toSorted((a, b) => b.missed.length - a.missed.length || a.file.localeCompare(b.file));
}

/** Type annotations become blanks when Node runs the source, so the offsets are those of the source. */
function reachedLines(source: string, ranges: readonly Range[]): [number, boolean][] {
  const isRun = new Uint8Array(source.length).fill(1);
  // Inner ranges are shorter than those around them.
  const outerFirst = ranges.toSorted(
    (a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset),
  );
  for (const { startOffset, endOffset, count } of outerFirst) {
    isRun.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  let offset = 0;
  return source.split('\n').flatMap((line, at): [number, boolean][] => {
    const code = line.trim();
    const isReached = isRun[offset + line.indexOf(code)] === 1;
    offset += line.length + 1;
    return NO_CODE.test(code) ? [] : [[at + 1, isReached]];
  });
}

/** One line per file, with the lines that were not reached as ranges. */
export function describeCoverage(files: readonly FileCoverage[]): string[] {
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  const missed = files.reduce((sum, file) => sum + file.missed.length, 0);
  const share = ((100 * (lines - missed)) / lines).toFixed(1);
  return [
    ...files
      .filter((file) => file.missed.length > 0)
      .map((file) => `${file.file}: ${toRanges(file.missed)}`),
    `${lines - missed} of ${lines} lines of ${files.length} files reached, ${share} %`,
  ];
}

function toRanges(lines: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const line of lines) {
    const last = ranges.at(-1);
    if (last !== undefined && line === last[1] + 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
