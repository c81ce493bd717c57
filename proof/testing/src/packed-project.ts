import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from './installed-package.ts';

const INTEGRATIONS = join(import.meta.dirname, '../../../clients/integrations');
const run = promisify(execFile);

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
  for (const each of ['sdk', name]) {
    const built = join(folder, 'built', each);
    await buildPackage(`@svc-asr/${each}`, built);
    const pack = ['pack', '--silent', '--pack-destination', folder];
    const tarball = (await run('npm', pack, { cwd: built })).stdout.trim();
    const installed = join(folder, 'node_modules/@svc-asr', each);
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xf', join(folder, tarball), '--strip-components', '1', '-C', installed]);
  }
  for (const dependency of dependencies) {
    const link = join(folder, 'node_modules', dependency);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(INTEGRATIONS, name, 'node_modules', dependency), link);
  }
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
