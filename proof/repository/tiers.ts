import { globSync } from 'node:fs';
import { basename, matchesGlob } from 'node:path';

/** What a test may start beside Node and PostgreSQL. `programs` are ffmpeg, OpenSSL, HAProxy, Redis and the like. */
export type Need = 'programs' | 'browser' | 'python';

/**
 * The tiers by what a machine needs for their tests. The name of a file says its tier: `keys.browser.test.ts` needs Chromium.
 * A plain `keys.test.ts` needs only Node: beside its source it is a unit test, elsewhere an integration test, which uses a
 * real PostgreSQL.
 */
export const NEEDS: Readonly<Record<string, readonly Need[]>> = {
  unit: [],
  integration: [],
  programs: ['programs'],
  browser: ['programs', 'browser'],
  python: ['programs', 'python'],
  slow: ['programs', 'browser', 'python'],
};

export const TIERS = Object.keys(NEEDS);

const IN_NAMES = TIERS.slice(2).map((tier) => `**/*.${tier}.test.{ts,tsx}`);
const BESIDE_SOURCES = ['**/src/**/*.test.{ts,tsx}'];
const SKIPPED = ['node_modules', 'dist', '.cache', '.git'];

interface Globs {
  readonly include: string[];
  readonly exclude: string[];
}

/** The files of a tier, for vitest. */
export function globsOf(tier: string): Globs {
  const skipped = SKIPPED.map((folder) => `**/${folder}/**`);
  if (tier === 'unit') return { include: BESIDE_SOURCES, exclude: [...skipped, ...IN_NAMES] };
  if (tier !== 'integration') return { include: [`**/*.${tier}.test.{ts,tsx}`], exclude: skipped };
  return { include: ['**/*.test.{ts,tsx}'], exclude: [...skipped, ...BESIDE_SOURCES, ...IN_NAMES] };
}

/** The tiers that run a file. */
export function tiersOf(file: string): string[] {
  const matches = (globs: readonly string[]): boolean =>
    globs.some((glob) => matchesGlob(file, glob));
  return TIERS.filter((tier) => matches(globsOf(tier).include) && !matches(globsOf(tier).exclude));
}

/** The test files below a folder. */
export function testFiles(root: string): string[] {
  return globSync('**/*.test.{ts,tsx}', { cwd: root, exclude: isSkipped });
}

function isSkipped(path: string): boolean {
  return SKIPPED.includes(basename(path));
}
