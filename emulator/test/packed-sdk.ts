import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A project that installed the published package: what its users have, and nothing of this repository. */
export async function projectWithSdk(): Promise<{ folder: string; remove(): Promise<void> }> {
  const script = join(import.meta.dirname, '../../sdk/scripts/build.ts');
  const built = execFileSync(process.execPath, [script], { encoding: 'utf8' }).trim();
  const folder = await mkdtemp(join(tmpdir(), 'sdk-user-'));
  const pack = ['pack', '--silent', '--pack-destination', folder];
  const name = execFileSync('npm', pack, { cwd: built, encoding: 'utf8' }).trim();
  const installed = join(folder, 'node_modules/@svc-asr/sdk');
  await mkdir(installed, { recursive: true });
  const tarball = join(folder, name);
  execFileSync('tar', ['-xf', tarball, '--strip-components', '1', '-C', installed]);
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
