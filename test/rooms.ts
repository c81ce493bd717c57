import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

/** Which room may import which. The root listing is the architecture; this table is its law. */
export const ALLOWED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  engine: ['protocol'],
  server: ['engine', 'protocol'],
  sdk: ['protocol'],
  cli: ['sdk', 'protocol'],
  console: ['sdk', 'protocol'],
  // The last three only in its tests: they are proved against the real server here.
  emulator: ['server', 'engine', 'protocol', 'sdk', 'cli', 'example-livekit'],
  examples: ['sdk'],
  eval: ['engine', 'protocol'],
  bench: ['server', 'engine', 'protocol', 'sdk', 'emulator'],
};

const IMPORT = /(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g;
const PACKAGE_PREFIX = '@svc-asr/';

/** Sentences about every import that leaves its room by a door that is not there. */
export async function findForbiddenImports(root: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [room, allowed] of Object.entries(ALLOWED_IMPORTS)) {
    for (const file of await sourceFiles(join(root, room))) {
      const text = await readFile(file, 'utf8');
      for (const [, specifier = ''] of text.matchAll(IMPORT)) {
        const target = roomOf({ root, file, specifier });
        if (target === undefined || target === room || allowed.includes(target)) continue;
        problems.push(`${relative(root, file)} imports ${target}: ${room} may not`);
      }
    }
  }
  return problems;
}

function roomOf(input: { root: string; file: string; specifier: string }): string | undefined {
  if (input.specifier.startsWith(PACKAGE_PREFIX)) {
    return input.specifier.slice(PACKAGE_PREFIX.length).split('/')[0];
  }
  if (!input.specifier.startsWith('.')) return undefined;
  const target = relative(input.root, resolve(input.file, '..', input.specifier));
  return target.split('/')[0];
}

async function sourceFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && /\.(ts|tsx)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/(node_modules|dist)\//.test(path));
}
