import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { wireTypes } from './wire-types.ts';

/**
 * Builds the folder to publish: `npm publish sdk/dist/package --provenance`. It holds the compiled modules (unbundled, which
 * suits bundlers best), the protocol's constants and types, and a manifest.
 */
const sdk = join(import.meta.dirname, '..');

export async function buildPackage(out = join(sdk, 'dist/package')): Promise<string> {
  execFileSync('tsc', ['-b', sdk], { stdio: 'inherit' });
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await copyModules(join(sdk, 'dist/compiled/src'), out);
  const constants = join(sdk, '../protocol/dist/src/constants');
  for (const ending of ['.js', '.d.ts']) {
    await writeFile(
      join(out, `constants${ending}`),
      publishable(await read(constants + ending), ''),
    );
  }
  await writeFile(join(out, 'wire.js'), 'export {};\n');
  await writeFile(join(out, 'wire.d.ts'), wireTypes());
  await writeFile(join(out, 'package.json'), await manifest());
  await cp(join(sdk, 'README.md'), join(out, 'README.md'));
  await cp(join(sdk, '../LICENSE'), join(out, 'LICENSE'));
  return out;
}

async function copyModules(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(js|d\.ts)$/.test(entry.name)) continue;
    const folder = entry.parentPath.slice(from.length);
    await mkdir(join(to, folder), { recursive: true });
    const text = await read(join(entry.parentPath, entry.name));
    await writeFile(join(to, folder, entry.name), publishable(text, folder));
  }
}

/** The protocol package is private, so its imports point at the copies in the package. */
function publishable(text: string, folder: string): string {
  const up = folder === '' ? './' : '../'.repeat(folder.split('/').length - 1);
  return (
    text
      .replace(/(['"])@svc-asr\/protocol\/constants\.ts\1/g, `'${up}constants.js'`)
      .replace(/(['"])@svc-asr\/protocol\1/g, `'${up}wire.js'`)
      // Declarations keep the source's endings, which are not in the package.
      .replace(/((?:from|import\()\s*['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2')
      .replace(/^\/\/# sourceMappingURL=.*$/gm, '')
  );
}

async function manifest(): Promise<string> {
  const source: Record<string, unknown> = JSON.parse(await read(join(sdk, 'package.json')));
  const { devDependencies: _, scripts: __, ...kept } = source;
  const published = { ...kept, publishConfig: { access: 'public', provenance: true } };
  return `${JSON.stringify(published, pointAtModules, 2)}\n`;
}

/** Maps `./src/x.ts` to `./x.js` with its types, in exports and imports alike. */
function pointAtModules(key: string, value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('./src/')) return value;
  const module = value.replace('./src/', './').replace(/\.ts$/, '');
  if (!key.startsWith('.')) return `${module}.js`;
  return { types: `${module}.d.ts`, default: `${module}.js` };
}

async function read(path: string): Promise<string> {
  return readFile(path, 'utf8');
}

if (import.meta.main) process.stdout.write(`${await buildPackage(process.argv[2])}\n`);
