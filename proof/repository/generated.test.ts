import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STATEMENTS } from '@svc-asr/protocol/documents/statements.ts';
import { findVerifyingTests, isStatementId, readableTitle, titlesIn } from './conformance.ts';
import { generatedFiles } from './generated.ts';

const root = join(import.meta.dirname, '../..');

test('H05 the generated files in docs/ are up to date (else run npm run docs)', async () => {
  for (const [path, text] of await generatedFiles(root)) {
    const committed = await readFile(join(root, path), 'utf8').catch(() => '');
    expect(committed === text, `${path} is out of date: run npm run docs`).toBe(true);
  }
});

test('every statement of the contract has a test, and example titles are not counted', async () => {
  const verifying = await findVerifyingTests(root);
  expect(
    verifying.filter(({ file }) => file === 'proof/repository/generated.test.ts'),
  ).toHaveLength(1);
  const verified = new Set<string>(verifying.flatMap(({ ids }) => ids));
  expect(Object.keys(STATEMENTS).filter((id) => !verified.has(id))).toEqual([]);
});

test('reads whole titles in any quotes and counts only known statement ids', () => {
  // The dots keep these examples from matching as titles.
  const text = `test('.S05 S07 it\\'s %s', f); test.each(x)(".W01 a", f); test(\`.H99 b S05\`, f);`;
  expect(titlesIn('x.test.ts', text.replaceAll('.', ''))).toEqual([
    { file: 'x.test.ts', title: String.raw`S05 S07 it\'s %s`, ids: ['S05', 'S07'] },
    { file: 'x.test.ts', title: 'W01 a', ids: ['W01'] },
    { file: 'x.test.ts', title: 'H99 b S05', ids: ['S05'] },
  ]);
  expect(isStatementId('toString')).toBe(false);
});

test('titles in docs/conformance.md have no ids, escapes and placeholders', () => {
  expect(readableTitle(String.raw`S05 S07 it\'s %s, $name or ${'${name}'}`)).toBe("it's …, … or …");
});

test('docs/configuration.md lists every environment variable', async () => {
  const folders = ['core/server/src/config', 'core/runtime/src'];
  const files = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(root, folder))).map((name) => join(folder, name)),
    ),
  );
  const sources = ['core/server/src/config.ts', ...files.flat()]
    // ffmpeg's PATH, and signatures of file formats, are no settings.
    .filter((path) => !/\/audio-(?:sandbox|formats)\.ts$/.test(path))
    .map((path) => join(root, path));
  const source = (await Promise.all(sources.map((path) => readFile(path, 'utf8')))).join('\n');
  const page = await readFile(join(root, 'docs/configuration.md'), 'utf8');
  const names = [...source.matchAll(/'(?!SIG)([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)'/g)].map(
    ([, name]) => name,
  );
  expect(names.length).toBeGreaterThan(15);
  for (const name of new Set(names)) expect(page, name).toContain(`\`${name}\``);
});
