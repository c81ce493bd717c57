import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Builds the folder that an integration publishes: compiled modules, types and a manifest. Returns its path. */
export async function buildIntegration(name: string, out: string): Promise<string> {
  const source = join(import.meta.dirname, name);
  execFileSync('tsc', ['-b', source], { stdio: 'inherit' });
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const compiled = join(source, 'dist/compiled/src');
  const shared = new Set<string>();
  for (const entry of await readdir(compiled, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(js|d\.ts)$/.test(entry.name)) continue;
    const folder = join(out, entry.parentPath.slice(compiled.length));
    await mkdir(folder, { recursive: true });
    const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
    for (const [, module = ''] of text.matchAll(SHARED_MODULE)) shared.add(module);
    const toRoot = relative(folder, out) || '.';
    await writeFile(join(folder, entry.name), publishable(text, toRoot));
  }
  await copyShared(shared, out);
  await writeFile(join(out, 'package.json'), await manifest(source));
  await cp(join(source, 'README.md'), join(out, 'README.md'));
  await cp(join(import.meta.dirname, '../LICENSE'), join(out, 'LICENSE'));
  return out;
}

const SHARED_FOLDER = 'protocol';
/** Modules of the protocol package, which is private. The package holds copies of those that it imports. */
const SHARED_MODULE = /'@svc-asr\/protocol\/([\w-]+)\.ts'/g;

/** Modules of the protocol that another one of its modules imports. */
const SHARED_BY_SHARED = /from '\.\/([\w-]+)\.(?:js|ts)'/g;

/** Copies the modules into a folder of their own, so that no name can clash. A set also visits entries added to it meanwhile. */
async function copyShared(modules: Set<string>, out: string): Promise<void> {
  if (modules.size === 0) return;
  await mkdir(join(out, SHARED_FOLDER), { recursive: true });
  for (const module of modules) {
    for (const ending of ['.js', '.d.ts']) {
      const path = join(import.meta.dirname, '../protocol/dist/src', module + ending);
      const text = await readFile(path, 'utf8');
      for (const [, needed = ''] of text.matchAll(SHARED_BY_SHARED)) modules.add(needed);
      await writeFile(join(out, SHARED_FOLDER, module + ending), publishable(text, '..'));
    }
  }
}

/** Declarations keep the source's endings, which are not in the package. */
function publishable(text: string, toRoot: string): string {
  return text
    .replace(SHARED_MODULE, `'./${toRoot}/${SHARED_FOLDER}/$1.js'`)
    .replace(/((?:from|import\()\s*['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2')
    .replace(/^\/\/# sourceMappingURL=.*$/gm, '');
}

async function manifest(source: string): Promise<string> {
  const written: Record<string, unknown> = JSON.parse(
    await readFile(join(source, 'package.json'), 'utf8'),
  );
  const { devDependencies: _, scripts: __, private: ___, ...kept } = written;
  return `${JSON.stringify(kept, (key, value) => published(key, value, written['version']), 2)}\n`;
}

/** `./src/x.ts` is published as `./x.js`, and packages of this repository have one version. */
function published(key: string, value: unknown, version: unknown): unknown {
  if (value === 'workspace:*') return version;
  if (typeof value !== 'string' || !value.startsWith('./src/')) return value;
  const module = value.replace('./src/', './').replace(/\.ts$/, '');
  return key.startsWith('.')
    ? { types: `${module}.d.ts`, default: `${module}.js` }
    : `${module}.js`;
}

if (import.meta.main) {
  const [name = '', out = join(import.meta.dirname, name, 'dist/package')] = process.argv.slice(2);
  process.stdout.write(`${await buildIntegration(name, out)}\n`);
}
