import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** Modules of private packages. A package holds copies of those that it imports. */
const SHARED_MODULE = /(['"])@svc-asr\/((?:protocol|runtime)(?:\/[\w-]+)+)\.ts\1/g;
/** Modules that another module of the same private package imports. */
const SHARED_BY_SHARED = /from '(\.{1,2}\/[\w/-]+)\.(?:js|ts)'/g;
/** What nobody could install. */
const PRIVATE = /['"]@svc-asr\/(?:protocol|runtime)\b[^'"]*['"]/;
/** The types of the protocol's schemas. */
const WIRE = /(['"])@svc-asr\/protocol\1/g;

/**
 * Writes a package's compiled modules and declarations, unbundled, which suits bundlers best. `wireTypes` are declarations
 * in place of the protocol package's schemas, so that the published package doesn't need their library.
 */
export async function writeCompiled(
  folder: string,
  out: string,
  { wireTypes }: { readonly wireTypes?: string } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['-b', join(ROOT, folder)], { stdio: 'inherit' });
  const compiled = join(ROOT, folder, 'dist/compiled/src');
  const shared = new Set<string>();
  for (const path of await readdir(compiled, { recursive: true })) {
    if (!isPublished(folder, path)) continue;
    const text = await readFile(join(compiled, path), 'utf8');
    for (const [, , module = ''] of text.matchAll(SHARED_MODULE)) shared.add(module);
    await write(join(out, path), publishable(text, relative(dirname(path), '.')));
  }
  await copyShared(shared, out);
  if (wireTypes !== undefined) {
    await write(join(out, 'protocol/wire.js'), 'export {};\n');
    await write(join(out, 'protocol/wire.d.ts'), wireTypes);
  }
  return {};
}

/** Not tests, and not what an earlier build left of deleted modules. */
export function isPublished(folder: string, path: string): boolean {
  if (!/\.(js|d\.ts)$/.test(path) || /\.test\./.test(path)) return false;
  return existsSync(join(ROOT, folder, 'src', path.replace(/\.(js|d\.ts)$/, '.ts')));
}

/** Copies the modules into a folder for each package, so that no name can clash. A set also visits entries added to it meanwhile. */
async function copyShared(modules: Set<string>, out: string): Promise<void> {
  for (const module of modules) {
    const folder = dirname(module);
    const compiled = join(ROOT, 'core', module.replace('/', '/dist/src/'));
    for (const ending of ['.js', '.d.ts']) {
      const text = await readFile(compiled + ending, 'utf8');
      for (const [, needed = ''] of text.matchAll(SHARED_BY_SHARED)) {
        modules.add(join(folder, needed));
      }
      for (const [, , needed = ''] of text.matchAll(SHARED_MODULE)) modules.add(needed);
      await write(join(out, module + ending), publishable(text, relative(folder, '.')));
    }
  }
}

/** Declarations keep the source's endings, which are not in the package. */
function publishable(text: string, toRoot: string): string {
  return text
    .replace(SHARED_MODULE, `'./${join(toRoot, '$2.js')}'`)
    .replace(WIRE, `'./${join(toRoot, 'protocol/wire.js')}'`)
    .replace(/((?:from|import\()\s*['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2')
    .replace(/^\/\/# sourceMappingURL=.*$/gm, '');
}

async function write(path: string, text: string): Promise<void> {
  const [missing] = PRIVATE.exec(text) ?? [];
  if (missing !== undefined) throw new Error(`${path} imports ${missing}, which is not published.`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
