import { readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { MUTANTS } from '../src/mutants/all-mutants.ts';
import { mutate } from '../src/mutants/mutant.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const inCode = MUTANTS.filter(({ sql }) => sql === null);
const inSql = MUTANTS.flatMap(({ name, sql }) => (sql === null ? [] : [{ name, ...sql }]));

test.each(inCode)('$name changes code that exists', async ({ changes }) => {
  for (const file of new Set(changes.map((change) => change.in))) {
    const source = await readFile(resolve(ROOT, file), 'utf8');
    const own = changes.filter((change) => change.in === file);
    expect(mutate(source, own)).not.toBe(source);
  }
});

test.each(inSql)('$name changes SQL that exists', async ({ changes }) => {
  const folder = resolve(ROOT, 'server/sql/functions');
  const files = await readdir(folder);
  const sources = await Promise.all(files.map((file) => readFile(resolve(folder, file), 'utf8')));
  for (const { from } of changes) {
    expect(sources.some((source) => source.includes(from))).toBe(true);
  }
});

test('no two mutants have the same name', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});
