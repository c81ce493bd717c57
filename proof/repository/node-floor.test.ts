import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FLOOR = 22;

/** Pages that speak of other versions: what a clone needs, and why decisions were made. */
const HISTORY = /^(CHANGELOG\.md|docs\/adr\/|docs\/dependencies\.md|docs\/operations\/install\.md)/;

function tracked(pattern: string): string[] {
  return execFileSync('git', ['ls-files', '-z', pattern], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter((file) => file !== '');
}

test(`all packages that people install need Node ${FLOOR}`, () => {
  const floors = tracked('*package.json').flatMap((file) => {
    const { name, engines } = JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
    return engines === undefined || file === 'package.json' ? [] : [[name, engines.node]];
  });
  expect(floors.length).toBeGreaterThanOrEqual(5);
  expect(floors.filter(([, range]) => !range.startsWith(`>=${FLOOR}.`))).toEqual([]);
});

test('no page promises an older Node', () => {
  const older = tracked('*.md')
    .filter((file) => !HISTORY.test(file))
    .filter((file) => /\bNode (?:1\d|20|21)\b/.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(older).toEqual([]);
});
