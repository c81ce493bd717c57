import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Asynchronous, because services start at the same time and their connections must not time out. */
const run = promisify(execFile);

export interface Project {
  readonly folder: string;
  remove(): Promise<void>;
}

const BUILD = join(import.meta.dirname, '../../../release/build-package.ts');

/** Builds the folder that one of our npm packages publishes. */
export async function buildPackage(name: string, out: string): Promise<void> {
  await run(process.execPath, [BUILD, name, out]);
}

/**
 * Creates a project outside the repository with one of our packages installed from its tarball. Dependencies are linked
 * from `dependencyFolders`, so that no registry is needed.
 */
export async function projectWithPackage(
  name: string,
  dependencyFolders: readonly string[],
): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-project-'));
  // A separate folder, because tests that build the package run concurrently.
  const built = join(folder, 'built');
  await buildPackage(name, built);
  const pack = ['pack', '--silent', '--pack-destination', folder];
  const tarball = (await run('npm', pack, { cwd: built })).stdout.trim();
  const manifest: { dependencies?: Record<string, string> } = JSON.parse(
    await readFile(join(built, 'package.json'), 'utf8'),
  );
  const installed = join(folder, 'node_modules', name);
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xf', join(folder, tarball), '--strip-components', '1', '-C', installed]);
  for (const dependency of Object.keys(manifest.dependencies ?? {})) {
    const source = dependencyFolders.map((each) => join(each, dependency)).find(existsSync);
    if (source === undefined) throw new Error(`${dependency} is not installed.`);
    const link = join(folder, 'node_modules', dependency);
    await mkdir(dirname(link), { recursive: true });
    await symlink(await realpath(source), link);
  }
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

/** The Node that runs the tests and the system's own, by version, from the oldest that the package supports. */
export function installedNodes(oldest = 20): [version: string, path: string][] {
  const paths = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter(existsSync);
  const versions = paths.map((path) =>
    execFileSync(path, ['-p', 'process.version'], { encoding: 'utf8' }).trim(),
  );
  const found = new Map(versions.map((version, at) => [version, paths[at] ?? '']));
  return [...found].filter(([version]) => Number.parseInt(version.slice(1), 10) >= oldest);
}
