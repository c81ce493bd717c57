import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { BROWSER_TESTS, UNIT_TESTS } from './tiers.ts';

const ROOT = join(import.meta.dirname, '..');
const files = execFileSync('git', ['ls-files', '*.test.ts', '*.test.tsx'], { cwd: ROOT })
  .toString()
  .trim()
  .split('\n');

function imports(file: string): string {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  return lines.filter((line) => /from '|import\('/.test(line)).join('\n');
}

function isIn(tier: readonly string[], file: string): boolean {
  return tier.some((glob) => matchesGlob(file, glob));
}

test('a test that opens a browser is in the browser tier', () => {
  const opens = files.filter((file) => /chromium|firefox|playwright/i.test(imports(file)));
  expect(opens.length).toBeGreaterThan(10);
  expect(opens.filter((file) => !isIn(BROWSER_TESTS, file))).toEqual([]);
});

test('a unit test starts no server and no browser', () => {
  const unit = files.filter((file) => isIn(UNIT_TESTS, file));
  expect(unit.length).toBeGreaterThan(30);
  const starts = /postgres|chromium|'pg'|test-service|start-service/i;
  expect(unit.filter((file) => starts.test(imports(file)))).toEqual([]);
});
