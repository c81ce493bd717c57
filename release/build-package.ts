import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isNpmPackage, NPM_PACKAGES, type NpmPackageName } from './npm-packages.ts';

/** `node release/build-package.ts NAME [FOLDER]` builds the folder that an npm package publishes, and prints its path. */
const ROOT = resolve(import.meta.dirname, '..');

export async function buildPackage(name: NpmPackageName, to?: string): Promise<string> {
  const { folder, write } = NPM_PACKAGES[name];
  const out = to ?? join(ROOT, folder, 'dist/package');
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const own = await write(out);
  const manifest = { ...(await publishedManifest(folder)), ...own };
  await writeFile(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await copyFile(join(ROOT, folder, 'README.md'), join(out, 'README.md'));
  await copyFile(join(ROOT, 'LICENSE'), join(out, 'LICENSE'));
  return out;
}

type Manifest = Readonly<Record<string, unknown>>;

/**
 * The package's manifest without what only this repository needs: the sources are private, so that only a built folder can be
 * published. Its addresses are those of the repository.
 */
async function publishedManifest(folder: string): Promise<Manifest> {
  const root = await readManifest('.');
  const own = await readManifest(folder);
  const { private: _, scripts: __, devDependencies: ___, ...kept } = own;
  const published: unknown = JSON.parse(JSON.stringify(kept), (key, value: unknown) =>
    publishedValue(key, value, own['version']),
  );
  return {
    ...Object(published),
    homepage: root['homepage'],
    bugs: root['bugs'],
    repository: { ...Object(root['repository']), directory: folder },
    publishConfig: { access: 'public', provenance: true },
  };
}

/** `./src/x.ts` is published as `./x.js`, and packages of this repository have one version. */
function publishedValue(key: string, value: unknown, version: unknown): unknown {
  if (value === 'workspace:*') return version;
  if (typeof value !== 'string' || !value.startsWith('./src/')) return value;
  const module = value.replace('./src/', './').replace(/\.ts$/, '');
  return key.startsWith('.')
    ? { types: `${module}.d.ts`, default: `${module}.js` }
    : `${module}.js`;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(ROOT, folder, 'package.json'), 'utf8'));
}

if (import.meta.main) {
  const [name = '', to] = process.argv.slice(2);
  if (!isNpmPackage(name)) {
    const names = Object.keys(NPM_PACKAGES).join(', ');
    process.stderr.write(
      `Usage: node release/build-package.ts NAME [FOLDER]\nNAME is one of: ${names}.\n`,
    );
    process.exitCode = 2;
  } else {
    process.stdout.write(`${await buildPackage(name, to && resolve(to))}\n`);
  }
}
