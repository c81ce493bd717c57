import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

test('a release raises the version of every package', async () => {
  const globs = await raisedGlobs();
  const missed = manifests().filter((path) => !globs.some((glob) => matchesGlob(path, glob)));
  expect(missed).toEqual(['package.json']);
});

test('all packages and the release manifest have the same version', async () => {
  const released: Record<string, string> = JSON.parse(
    await read('.github/release-please-manifest.json'),
  );
  const versions = new Set<string>();
  for (const path of manifests()) {
    const { version }: { version: string } = JSON.parse(await read(path));
    versions.add(version);
  }
  expect([...versions]).toEqual([released['.']]);
});

test('release notes come from the changelog, and a missing section is an error', () => {
  const notes = releaseNotes('0.1.0');
  expect(notes).toContain('The first release.');
  expect(notes).not.toContain('Unreleased');
  expect(() => releaseNotes('0.0.9')).toThrow('CHANGELOG.md has no section for 0.0.9');
});

function manifests(): string[] {
  const listed = execFileSync('git', ['ls-files', '*package.json'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed.trim().split('\n');
}

/** Returns the globs of package.json files whose version the release pull request raises, besides the root's. */
async function raisedGlobs(): Promise<string[]> {
  const config: { packages: Record<string, { 'extra-files': { path: string }[] }> } = JSON.parse(
    await read('.github/release-please-config.json'),
  );
  return (config.packages['.']?.['extra-files'] ?? []).map(({ path }) => path);
}

function releaseNotes(version: string): string {
  const script = join(root, '.github/release-notes.sh');
  return execFileSync('bash', [script, version], { encoding: 'utf8', stdio: 'pipe' });
}

async function read(path: string): Promise<string> {
  return readFile(join(root, path), 'utf8');
}
