import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { needOf } from './tier-programs.ts';
import { NEEDS, testFiles, TIERS, tiersOf, type Need } from './tiers.ts';

const ROOT = join(import.meta.dirname, '../..');
const files = testFiles(ROOT);

/** Modules that start a program of their own, and what it needs. */
const STARTERS: readonly [RegExp, Need][] = [
  [/playwright-core$|\/chromium\.ts$/, 'browser'],
  [/\/python\.ts$|\/python-blocks\.ts$/, 'python'],
  [/\/(?:certificate|private-ca|haproxy|redis|prometheus|alertmanager)\.ts$/, 'programs'],
];

/** What a file imports at run time, itself or through other modules of tests. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  for (const [, kind = '', from = ''] of text.matchAll(
    /^(import type|import|\} from).*?'(.+)';$/gm,
  )) {
    const path = from.startsWith('.')
      ? join(dirname(file), from)
      : from.replace(/^@svc-asr\/testing\//, join(ROOT, 'proof/testing/src/'));
    if (kind === 'import type' || seen.has(path)) continue;
    seen.add(path);
    if (!path.includes('/src/') || path.includes('/testing/')) importsOf(path, seen);
  }
  return seen;
}

test('every test file is in exactly one tier, and every tier has files', () => {
  expect(files.filter((file) => tiersOf(file).length !== 1)).toEqual([]);
  expect(new Set(files.flatMap(tiersOf))).toEqual(new Set(TIERS));
  expect(files.length).toBeGreaterThan(300);
});

test('a test imports nothing that starts what its tier does not have', () => {
  const problems = files.flatMap((file) => {
    const [tier = ''] = tiersOf(file);
    const imports = [...importsOf(join(ROOT, file))];
    return STARTERS.filter(([, need]) => !NEEDS[tier]?.includes(need)).flatMap(([module]) =>
      imports.filter((path) => module.test(path)).map((path) => `${file} imports ${path}`),
    );
  });
  expect(problems).toEqual([]);
});

test.each([
  ['ffmpeg', 'programs'],
  ['/usr/bin/openssl', 'programs'],
  ['/usr/bin/chromium-headless-shell', 'browser'],
  ['firefox-esr', 'browser'],
  ['python3', 'python'],
  [join(ROOT, '.cache/blackbox/bin/schemathesis'), 'python'],
] as const)('%s cannot be started here, in any way', (program, need) => {
  expect(needOf(program)).toBe(need);
  const refusal = new RegExp(`integration tier can't start ${program}: .*\\.${need}\\.test\\.ts`);
  expect(() => spawn(program)).toThrow(refusal);
  expect(() => execFile(program)).toThrow(refusal);
  expect(() => spawnSync(program)).toThrow(refusal);
  expect(() => execFileSync(program)).toThrow(refusal);
});

function statusOf(name: string): number | null {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status;
}

test('processes that a test starts find only basic programs', () => {
  expect(['node', 'git', 'tar', 'tsc'].map(statusOf)).toEqual([0, 0, 0, 0]);
  const others = ['ffmpeg', 'openssl', 'python3', 'chromium', 'psql', 'curl'];
  expect(others.filter((name) => statusOf(name) === 0)).toEqual([]);
});
