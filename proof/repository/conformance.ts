import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { STATEMENTS, type StatementId } from '@svc-asr/protocol/documents/statements.ts';

/** A test whose title names the statements it verifies. */
export interface VerifyingTest {
  readonly file: string;
  readonly title: string;
  readonly ids: readonly StatementId[];
}

const IDS = Object.keys(STATEMENTS).filter(isStatementId);
const SKIPPED = new Set(['node_modules', 'dist', '.git', '.dev', '.cache', '.stryker-tmp']);
/** Matches a title only as the first argument of a call. */
const TITLE = /\(\s*(['"`])((?:[HMSUCWK]\d{2}\b)(?:(?!\1)[^\\\n]|\\.)*)\1/g;

export function isStatementId(text: string): text is StatementId {
  return Object.hasOwn(STATEMENTS, text);
}

/** Returns every test whose title starts with statement ids. */
export async function findVerifyingTests(root: string): Promise<VerifyingTest[]> {
  const files = (await testFiles(root, '')).toSorted();
  const found = await Promise.all(
    files.map(async (file) => titlesIn(file, await readFile(join(root, file), 'utf8'))),
  );
  return found.flat();
}

export function titlesIn(file: string, text: string): VerifyingTest[] {
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

export function conformancePage(tests: readonly VerifyingTest[]): string {
  const rows = IDS.map((id) => {
    const own = tests.filter((test) => test.ids.includes(id)).map(cell);
    return `| ${id} | ${STATEMENTS[id]} | ${own.join('<br>') || '**none yet**'} |`;
  });
  return [
    '# Conformance',
    '',
    'Each statement of the contract and the tests that verify it. Generated from the test titles by `npm run docs`. `npm test`',
    'fails if this page is out of date or a statement has no test.',
    '',
    '| id | statement | tests |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function cell({ file, title }: VerifyingTest): string {
  return `[${file}](../${file}): ${readableTitle(title)}`;
}

/** Returns a test title for a table: without statement ids, and with an ellipsis for each value that `test.each` fills in. */
export function readableTitle(title: string): string {
  return title
    .replace(/^(?:[HMSUCWK]\d{2}[ ,]*)+/, '')
    .replaceAll(/%[sdijo]|\$\{[^}]*\}|\$\w+/g, '…')
    .replaceAll(/\\(['"`])/g, '$1')
    .replaceAll('|', '\\|');
}
