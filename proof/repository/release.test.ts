import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename, join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { collectChanges } from '../../release/collect-changes.ts';
import { isPublished } from '../../release/compiled-modules.ts';

const root = join(import.meta.dirname, '../..');

test('a release raises the version of every package', async () => {
  const globs = await raisedGlobs();
  const missed = [...manifests(), ...pythonProjects()].filter(
    (path) => !globs.some((glob) => matchesGlob(path, glob)),
  );
  expect(missed).toEqual(['package.json']);
});

test('in Python projects a release raises every line with the version', async () => {
  const version = await releasedVersion();
  for (const path of pythonProjects()) {
    const lines = (await read(path)).split('\n').filter((line) => line.includes(version));
    expect(lines).not.toEqual([]);
    expect(lines.filter((line) => !line.endsWith('# x-release-please-version'))).toEqual([]);
  }
});

test('all packages and the release manifest have the same version', async () => {
  const versions = new Set<string>();
  for (const path of manifests()) {
    const { version }: { version: string } = JSON.parse(await read(path));
    versions.add(version);
  }
  expect([...versions]).toEqual([await releasedVersion()]);
});

test.each([
  ['calls.js', true],
  ['calls.d.ts', true],
  ['calls.test.js', false],
  ['deleted-module.js', false],
])('a package has modules, and neither tests nor leftovers: %s %s', (path, isInside) => {
  expect(isPublished('clients/integrations/telephony', path)).toBe(isInside);
});

test('one job can sign and publish, and it runs no code of the repository', async () => {
  const workflow = parse(await read('.github/workflows/release.yml'));
  const jobs = Object.entries<Job>(workflow.jobs);
  const signing = jobs.filter(([, job]) => job.permissions?.['id-token'] === 'write');
  expect(signing.map(([name]) => name)).toEqual(['publish']);
  const steps = signing[0]?.[1].steps ?? [];
  expect(steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout'))).toEqual([]);
  expect(steps.filter(({ run = '' }) => /pnpm|install/.test(run))).toEqual([]);
});

test('the image of a release is built on digests of its base images, which the release names', async () => {
  const { jobs } = parse(await read('.github/workflows/release.yml'));
  const runs: string[] = jobs.image.steps.map(({ run = '' }: { run?: string }) => run);
  const [resolve, build] = ['podman pull', 'podman build'].map((command) =>
    runs.findIndex((run) => run.includes(command)),
  );
  expect(resolve).toBeGreaterThan(-1);
  expect(build).toBeGreaterThan(resolve ?? 0);
  const containerfile = await read('deploy/Containerfile');
  for (const name of ['BUILD_IMAGE', 'RUNTIME_IMAGE']) {
    expect(containerfile.match(new RegExp(`^ARG ${name}=`, 'gm'))).toHaveLength(1);
    expect(runs[resolve ?? 0]).toContain(name);
    expect(runs[build ?? 0]).toContain(`--build-arg ${name}="$${name}"`);
    expect(jobs.packages.env.BASES).toContain(name.toLowerCase());
  }
});

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly { readonly uses?: string; readonly run?: string }[];
}

test('release notes come from the changelog, and a missing section is an error', () => {
  const notes = releaseNotes('0.1.0');
  expect(notes).toContain('The first release.');
  expect(notes).not.toContain('Unreleased');
  expect(() => releaseNotes('0.0.9')).toThrow('CHANGELOG.md has no section for 0.0.9');
});

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n### Fixed\n\n- Old fix.\n\n## 0.1.0 - 2026-11-15\n\n- First.\n';
const RELEASE = { version: '0.2.0', date: '2026-12-01' };

test('a release moves changes and unreleased entries to a section of the changelog', () => {
  const changes = [
    { file: 'b.fixed.md', text: '- New fix.\n' },
    { file: 'a.added.md', text: '- New part.\n' },
  ];
  expect(collectChanges(CHANGELOG, changes, RELEASE)).toBe(
    '# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-12-01\n\n### Added\n\n- New part.\n\n' +
      '### Fixed\n\n- Old fix.\n- New fix.\n\n## 0.1.0 - 2026-11-15\n\n- First.\n',
  );
});

test('a change with an unknown kind is refused, and those in release/changes/ are valid', async () => {
  const unknown = [{ file: 'a.bench.md', text: '- x' }];
  expect(() => collectChanges(CHANGELOG, unknown, RELEASE)).toThrow('name it NAME.KIND.md');
  const files = tracked('release/changes/*.md').filter(
    (path) => path !== 'release/changes/README.md',
  );
  for (const path of files) {
    const text = await read(path);
    expect(text, path).toMatch(/^- /);
    collectChanges(CHANGELOG, [{ file: basename(path), text }], RELEASE);
  }
});

test('every command names the package manager of package.json', async () => {
  const { packageManager }: { packageManager: string } = JSON.parse(await read('package.json'));
  const options = { cwd: root, encoding: 'utf8' } as const;
  const used = execFileSync(
    'git',
    ['grep', '-hoE', 'pnpm@[0-9]+\\.[0-9.]+[0-9]', '--', ':!pnpm-lock.yaml'],
    options,
  );
  expect([...new Set(used.trim().split('\n'))]).toEqual([packageManager]);
});

test('Python packages have the addresses of package.json', async () => {
  const { homepage }: { homepage: string } = JSON.parse(await read('package.json'));
  for (const path of pythonProjects()) {
    expect(await read(path), path).toContain(`Homepage = "${homepage.replace('#readme', '')}"`);
  }
});

const manifests = (): string[] => tracked('*package.json');
const pythonProjects = (): string[] => tracked('*pyproject.toml').filter((path) => path !== TOOLS);

/** Settings of the tools for training, which is not a package. */
const TOOLS = 'training/pyproject.toml';

function tracked(pattern: string): string[] {
  const options = { cwd: root, encoding: 'utf8' } as const;
  return execFileSync('git', ['ls-files', pattern], options).trim().split('\n');
}

async function releasedVersion(): Promise<string> {
  const released: Record<string, string> = JSON.parse(
    await read('.github/release-please-manifest.json'),
  );
  return released['.'] ?? '';
}

interface ReleaseConfig {
  readonly packages: Record<string, { 'extra-files': (string | { path: string })[] }>;
}

/** Returns the files, or globs of files, whose version the release pull request raises, besides the root's. */
async function raisedGlobs(): Promise<string[]> {
  const config: ReleaseConfig = JSON.parse(await read('.github/release-please-config.json'));
  const files = config.packages['.']?.['extra-files'] ?? [];
  return files.map((file) => (typeof file === 'string' ? file : file.path));
}

function releaseNotes(version: string): string {
  const script = join(root, '.github/release-notes.sh');
  return execFileSync('bash', [script, version], { encoding: 'utf8', stdio: 'pipe' });
}

async function read(path: string): Promise<string> {
  return readFile(join(root, path), 'utf8');
}
