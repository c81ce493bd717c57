import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { STATEMENTS, type StatementId } from '@svc-asr/protocol/statements.ts';

/** A test that says which promises it holds. */
export interface HoldingTest {
  readonly file: string;
  readonly title: string;
  readonly ids: readonly StatementId[];
}

const IDS = Object.keys(STATEMENTS).filter(isStatementId);
const SKIPPED = new Set(['node_modules', 'dist', '.git', '.dev', '.cache', '.stryker-tmp']);
/** A title is the first thing in its call: a string elsewhere holds nothing. */
const TITLE = /\(\s*(['"`])((?:[HMSUCWK]\d{2}\b)(?:(?!\1)[^\\\n]|\\.)*)\1/g;

export function isStatementId(text: string): text is StatementId {
  return Object.hasOwn(STATEMENTS, text);
}

/** Every test whose title begins with the numbers of promises. */
export async function findHoldingTests(root: string): Promise<HoldingTest[]> {
  const files = (await testFiles(root, '')).toSorted();
  const found = await Promise.all(
    files.map(async (file) => titlesIn(file, await readFile(join(root, file), 'utf8'))),
  );
  return found.flat();
}

export function titlesIn(file: string, text: string): HoldingTest[] {
  return [...text.matchAll(TITLE)].map(([, , title = '']) => ({
    file,
    title,
    ids: IDS.filter((id) => new RegExp(`\\b${id}\\b`).test(title)),
  }));
}

async function testFiles(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : testFiles(root, path);
      return /\.test\.tsx?$/.test(entry.name) ? [path] : [];
    }),
  );
  return found.flat();
}

export function conformancePage(tests: readonly HoldingTest[]): string {
  const rows = IDS.map((id) => {
    const own = tests.filter((test) => test.ids.includes(id)).map(cell);
    return `| ${id} | ${STATEMENTS[id]} | ${own.join('<br>') || '**none yet**'} |`;
  });
  return [
    '# Conformance',
    '',
    'Each promise of the contract and the tests that hold it. Made from the titles of the tests by `npm run docs`;',
    '`npm test` fails when it is out of step or when a promise loses its last test.',
    '',
    '| id | promise | held by |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function cell({ file, title }: HoldingTest): string {
  const words = title.replace(/^(?:[HMSUCWK]\d{2}[ ,]*)+/, '').replaceAll('|', '\\|');
  return `[${file}](../${file}): ${words}`;
}
