import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STATEMENTS } from '@svc-asr/protocol/statements.ts';
import { findHoldingTests, isStatementId, titlesIn } from './conformance.ts';
import { generatedFiles } from './generated.ts';

const root = join(import.meta.dirname, '..');

test('H05 what docs/ shows of the code is in step with it (else: npm run docs)', async () => {
  for (const [path, text] of await generatedFiles(root)) {
    const committed = await readFile(join(root, path), 'utf8').catch(() => '');
    expect(committed === text, `${path} is out of step: npm run docs`).toBe(true);
  }
});

test('every promise of the contract is held by a test, and by no example of one', async () => {
  const holding = await findHoldingTests(root);
  expect(holding.filter(({ file }) => file === 'test/generated.test.ts')).toHaveLength(1);
  const held = new Set<string>(holding.flatMap(({ ids }) => ids));
  expect(Object.keys(STATEMENTS).filter((id) => !held.has(id))).toEqual([]);
});

test('a title is read whole, whichever quotes it has, and only known numbers count', () => {
  // The dots keep these examples from being found as titles themselves.
  const text = `test('.S05 S07 it\\'s %s', f); test.each(x)(".W01 a", f); test(\`.H99 b S05\`, f);`;
  expect(titlesIn('x.test.ts', text.replaceAll('.', ''))).toEqual([
    { file: 'x.test.ts', title: String.raw`S05 S07 it\'s %s`, ids: ['S05', 'S07'] },
    { file: 'x.test.ts', title: 'W01 a', ids: ['W01'] },
    { file: 'x.test.ts', title: 'H99 b S05', ids: ['S05'] },
  ]);
  expect(isStatementId('toString')).toBe(false);
});

test('every variable that the service reads is in docs/configuration.md', async () => {
  const source = await readFile(join(root, 'server/src/config.ts'), 'utf8');
  const page = await readFile(join(root, 'docs/configuration.md'), 'utf8');
  const names = [...source.matchAll(/'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)'/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(15);
  for (const name of new Set(names)) expect(page, name).toContain(`\`${name}\``);
});
