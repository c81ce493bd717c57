import { execFile } from 'node:child_process';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/**
 * `npm run -s pack -- NAME` builds a package and the packages of this repository that it needs, and prints their paths.
 * `npm install` and `pip install` take them in place of names, which no registry has yet.
 */
const ROOT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

/** The script that writes a package's folder, or the folder of a Python project. */
type Source = { readonly script: readonly string[] } | { readonly project: string };

const SOURCES = {
  '@svc-asr/sdk': { script: ['sdk/scripts/build.ts'] },
  '@svc-asr/cli': { script: ['cli/scripts/build.ts'] },
  '@svc-asr/emulator': { script: ['emulator/scripts/build.ts'] },
  '@svc-asr/compatible': { script: ['integrations/build-package.ts', 'compatible'] },
  '@svc-asr/livekit': { script: ['integrations/build-package.ts', 'livekit'] },
  '@svc-asr/telephony': { script: ['integrations/build-package.ts', 'telephony'] },
  'svc-asr': { project: 'sdk-python' },
  'svc-asr-livekit': { project: 'integrations/livekit-python' },
  'svc-asr-pipecat': { project: 'integrations/pipecat' },
} as const satisfies Record<string, Source>;

export type PackageName = keyof typeof SOURCES;
export const PACKAGE_NAMES: readonly string[] = Object.keys(SOURCES);

const NEEDS: Partial<Record<PackageName, readonly PackageName[]>> = {
  '@svc-asr/compatible': ['@svc-asr/sdk'],
  '@svc-asr/livekit': ['@svc-asr/sdk'],
  '@svc-asr/telephony': ['@svc-asr/sdk'],
  'svc-asr-livekit': ['svc-asr'],
  'svc-asr-pipecat': ['svc-asr'],
};

/** Builds a package with those it needs. Returns the paths of the archives. */
async function pack(name: PackageName, out: string): Promise<string[]> {
  const paths: string[] = [];
  for (const each of [...(NEEDS[name] ?? []), name]) {
    const folder = join(out, each.replace('/', '-'));
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    paths.push(await build(SOURCES[each], folder));
  }
  return paths;
}

async function build(source: Source, folder: string): Promise<string> {
  if ('project' in source) {
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--wheel-dir', folder];
    await run('python3', ['-m', 'pip', 'wheel', ...options, join(ROOT, source.project)]);
    const [wheel = ''] = await readdir(folder);
    return join(folder, wheel);
  }
  const [script = '', ...args] = source.script;
  const built = join(folder, 'package');
  await run(process.execPath, [join(ROOT, script), ...args, built], { cwd: ROOT });
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder, built]);
  return join(folder, packed.stdout.trim());
}

function isPackageName(name: string): name is PackageName {
  return name in SOURCES;
}

const [name = '', out = join(ROOT, 'dist/packages')] = process.argv.slice(2);
if (!isPackageName(name)) {
  process.stderr.write(
    `Usage: npm run -s pack -- NAME\nNAME is one of: ${PACKAGE_NAMES.join(', ')}.\n`,
  );
  process.exitCode = 2;
} else {
  for (const path of await pack(name, resolve(out))) process.stdout.write(`${path}\n`);
}
