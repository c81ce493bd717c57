import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { MUTANTS } from '../src/mutants/all-mutants.ts';
import { mutate } from '../src/mutants/mutant.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

const inCode = MUTANTS.filter(({ sql }) => sql === null);

test.each(inCode)('$name changes code that exists', async ({ changes }) => {
  for (const file of new Set(changes.map((change) => change.in))) {
    const source = await readFile(resolve(ROOT, file), 'utf8');
    const own = changes.filter((change) => change.in === file);
    expect(mutate(source, own)).not.toBe(source);
  }
});

test('no two mutants have the same name', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});
