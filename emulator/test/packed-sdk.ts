import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Not the synchronous one: services start meanwhile, and their connections must not time out. */
const run = promisify(execFile);

/** A project that installed the published package: what its users have, and nothing of this repository. */
export async function projectWithSdk(): Promise<{ folder: string; remove(): Promise<void> }> {
  const script = join(import.meta.dirname, '../../sdk/scripts/build.ts');
  const folder = await mkdtemp(join(tmpdir(), 'sdk-user-'));
  // Not where others build it: tests run side by side.
  const built = join(folder, 'built');
  await run(process.execPath, [script, built]);
  const pack = ['pack', '--silent', '--pack-destination', folder];
  const name = (await run('npm', pack, { cwd: built })).stdout.trim();
  const installed = join(folder, 'node_modules/@svc-asr/sdk');
  await mkdir(installed, { recursive: true });
  const tarball = join(folder, name);
  await run('tar', ['-xf', tarball, '--strip-components', '1', '-C', installed]);
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
