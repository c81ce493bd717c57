import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const TEXT = readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8');
const PLANTED = readFileSync(join(ROOT, 'docs/simulation-mutants.md'), 'utf8');

/** The files that the page names as evidence. */
function evidence(): string[] {
  const tests = TEXT.matchAll(/`((?:http|stream|console|operations|ledger|cells)\/[\w.-]+)`/g);
  const unitTests = TEXT.matchAll(/`(src\/[\w./-]+\.test\.ts)`/g);
  const campaigns = TEXT.matchAll(/`prove ([a-z-]+)`/g);
  return [
    ...[...tests].map(([, name]) => `core/server/test/${name}.test.ts`),
    ...[...unitTests].map(([, path]) => `core/server/${path}`),
    ...[...campaigns].map(([, name]) => `proof/bench/src/prove/**/${name}.ts`),
  ];
}

test('every test and campaign that the threat model names exists', () => {
  const files = evidence();
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => globSync(join(ROOT, file)).length === 0)).toEqual([]);
});

test('every bug that it says the simulation finds is planted and found', () => {
  const found = new Set(
    [...PLANTED.matchAll(/^\| `([a-z-]+)` .*\| \d+ \|/gm)].map(([, name]) => name),
  );
  const named = [...TEXT.matchAll(/`simulate ([a-z-]+)`/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !found.has(name))).toEqual([]);
});

test('every threat names at least one test', () => {
  const section = TEXT.split('## Threats')[1]?.split('## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => /^\| [a-z`]/.test(line));
  const threats = rows.filter((row) => !row.startsWith('| threat |'));
  expect(threats.length).toBeGreaterThan(20);
  expect(threats.filter((row) => !/`[^`]+` \|$/.test(row))).toEqual([]);
});
