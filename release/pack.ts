import { execFile } from 'node:child_process';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from './build-package.ts';
import { isNpmPackage, NPM_PACKAGES, type NpmPackageName } from './npm-packages.ts';

/**
 * `npm run -s pack -- NAME` builds a package and the packages of this repository that it needs, and prints their paths.
 * `npm install` and `pip install` take them in place of names, which no registry has yet.
 */
const ROOT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

/** Folders of the Python projects. */
const PYTHON_PROJECTS = {
  'svc-asr': 'clients/sdk-python',
  'svc-asr-livekit': 'clients/integrations/livekit-python',
  'svc-asr-pipecat': 'clients/integrations/pipecat',
} as const;

type PythonName = keyof typeof PYTHON_PROJECTS;
type PackageName = NpmPackageName | PythonName;
const PACKAGE_NAMES = [...Object.keys(NPM_PACKAGES), ...Object.keys(PYTHON_PROJECTS)];

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
    paths.push(await (isNpmPackage(each) ? packNpm(each, folder) : buildWheel(each, folder)));
  }
  return paths;
}

async function buildWheel(name: PythonName, folder: string): Promise<string> {
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--wheel-dir', folder];
  await run('python3', ['-m', 'pip', 'wheel', ...options, join(ROOT, PYTHON_PROJECTS[name])]);
  const [wheel = ''] = await readdir(folder);
  return join(folder, wheel);
}

async function packNpm(name: NpmPackageName, folder: string): Promise<string> {
  const built = await buildPackage(name, join(folder, 'package'));
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder, built]);
  return join(folder, packed.stdout.trim());
}

function isPackageName(name: string): name is PackageName {
  return PACKAGE_NAMES.includes(name);
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
