import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..');

export interface PackedProject {
  readonly folder: string;
  remove(): Promise<void>;
}

/**
 * A project that installed the packed SDK and the packed integration, and nothing of this repository. `dependencies`
 * are linked from the integration's own node_modules.
 */
export async function projectWith(
  name: string,
  dependencies: readonly string[],
): Promise<PackedProject> {
  const folder = await mkdtemp(join(tmpdir(), 'integration-user-'));
  const builds = [
    { package: 'sdk', script: ['sdk/scripts/build.ts'] },
    { package: name, script: ['integrations/build-package.ts', name] },
  ];
  for (const build of builds) {
    const built = join(folder, 'built', build.package);
    const [script = '', ...args] = build.script;
    await run(process.execPath, [join(ROOT, script), ...args, built], { cwd: ROOT });
    const pack = ['pack', '--silent', '--pack-destination', folder];
    const tarball = (await run('npm', pack, { cwd: built })).stdout.trim();
    const installed = join(folder, 'node_modules/@svc-asr', build.package);
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xf', join(folder, tarball), '--strip-components', '1', '-C', installed]);
  }
  for (const dependency of dependencies) {
    const link = join(folder, 'node_modules', dependency);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(import.meta.dirname, name, 'node_modules', dependency), link);
  }
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
