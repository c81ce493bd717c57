import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';

/** Which rooms each folder at the top holds. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  core: ['protocol', 'runtime', 'engine', 'server', 'models', 'local'],
  clients: ['sdk', 'sdk-python', 'cli', 'emulator', 'integrations', 'examples'],
  web: ['console', 'site'],
  proof: ['testing', 'bench', 'simulate', 'eval'],
};
const FOLDER_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(GROUPS).flatMap(([group, rooms]) =>
    rooms.map((room) => [room, `${group}/${room}`] as const),
  ),
);

/** Which package may import which. */
const ALLOWED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  // Settings, traces, TLS files, addresses and what a listening process needs.
  runtime: ['protocol'],
  engine: ['runtime', 'protocol'],
  server: ['engine', 'runtime', 'protocol'],
  local: ['server', 'engine', 'protocol'],
  testing: ['local', 'server', 'engine', 'runtime', 'protocol'],
  sdk: ['protocol'],
  'sdk-python': [],
  integrations: ['sdk', 'runtime', 'protocol'],
  cli: ['sdk', 'protocol'],
  console: ['sdk', 'protocol'],
  // Its design tokens, its icon and how it compresses files.
  site: ['protocol', 'console'],
  emulator: ['server', 'local', 'engine', 'runtime', 'protocol'],
  examples: ['sdk'],
  models: ['engine', 'protocol'],
  eval: ['engine', 'models', 'protocol'],
  bench: ['server', 'local', 'testing', 'engine', 'runtime', 'protocol', 'sdk', 'emulator', 'eval'],
  simulate: ['server', 'local', 'testing', 'engine', 'runtime', 'protocol', 'sdk'],
  // Their build scripts.
  release: ['sdk', 'cli', 'emulator'],
};

/** Further imports of development scripts. */
const ALLOWED_SCRIPT_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  server: ['local'],
};

/** Further imports of tests. */
const ALLOWED_TEST_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  emulator: ['testing'],
  engine: ['local', 'testing'],
  integrations: ['emulator', 'local', 'testing'],
  local: ['runtime'],
  models: ['runtime', 'testing'],
  server: ['local', 'testing'],
  sdk: ['runtime', 'local', 'testing', 'emulator', 'engine'],
  cli: ['runtime', 'local', 'testing', 'emulator'],
  console: ['testing', 'emulator'],
};

/** Which folder of core/server/src may import which. Platform code knows nothing of speech or money. */
const ALLOWED_SERVER_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  ledger: ['platform'],
  accounts: ['platform', 'ledger'],
  nodes: ['platform', 'ledger'],
  cells: ['platform', 'ledger', 'accounts'],
  sessions: ['platform', 'ledger', 'accounts', 'nodes'],
  config: ['platform', 'accounts'],
  http: ['platform', 'ledger', 'accounts', 'nodes', 'sessions', '.'],
  gateway: ['platform', 'ledger', 'accounts', 'nodes', 'sessions', '.'],
  console: ['platform', 'ledger', 'accounts', 'nodes', 'sessions', 'config', '.'],
  admin: ['platform', 'ledger', 'accounts', 'nodes', 'cells', 'sessions', '.'],
};

/** Which folder of core/engine/src may import which. The files directly in it are the engine's contract, for all of them. */
const ALLOWED_ENGINE_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  'voice-activity': [],
  silero: ['voice-activity', 'weights'],
  lm: [],
  keyterms: ['lm'],
  ctc: ['lm', '.'],
  transducer: ['ctc', 'lm', '.'],
  recognisers: ['transducer', 'ctc', 'keyterms', 'lm', '.'],
  weights: ['ctc', 'lm'],
  scripted: ['voice-activity', '.'],
  replay: ['.'],
  pool: ['recognisers', 'weights', 'ctc', 'keyterms', '.'],
  grpc: ['.'],
  riva: ['grpc', '.'],
  node: ['pool', 'weights', 'grpc', '.'],
};

const FOLDERS = {
  'core/server/src': ALLOWED_SERVER_IMPORTS,
  'core/engine/src': ALLOWED_ENGINE_IMPORTS,
};
const IMPORT = /(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g;
const PACKAGE_PREFIX = '@svc-asr/';

/** Lists every import that the tables forbid. */
export async function findForbiddenImports(root: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [room, allowed] of Object.entries(ALLOWED_IMPORTS)) {
    for (const file of await sourceFiles(join(root, FOLDER_OF.get(room) ?? room))) {
      const path = relative(root, file);
      const allowedHere = new Set([...allowed, ...(furtherImports(path)[room] ?? [])]);
      const text = await readFile(file, 'utf8');
      for (const [, specifier = ''] of text.matchAll(IMPORT)) {
        if (/^@svc-asr\/[\w-]+\/test\//.test(specifier)) {
          problems.push(`${path} imports a test folder: ${specifier}`);
        }
        if (room === 'protocol' && specifier.startsWith('node:') && path.includes('/src/')) {
          problems.push(`${path} imports ${specifier}: browsers load the protocol too`);
        }
        const target = roomOf({ root, file, specifier });
        if (target === undefined) continue;
        if (target !== room && !allowedHere.has(target)) {
          problems.push(`${path} imports ${target}: ${room} may not`);
        }
        const problem = folderProblem({ root, path, specifier });
        if (problem !== null) problems.push(problem);
      }
    }
  }
  return problems;
}

const FILES_IN_FOLDER_MAX = 25;

/** Lists the folders with more source files side by side than a reader can take in. Tests don't count. */
export function findLargeFolders(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    if (!/\.(ts|tsx|py|sql|mjs)$/.test(path) || /\.test\.|\/tests?\//.test(path)) continue;
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > FILES_IN_FOLDER_MAX)
    .map(([folder, count]) => `${folder} has ${count} source files`);
}

function furtherImports(path: string): Readonly<Record<string, readonly string[]>> {
  if (/\/test\//.test(path) || /\.test\.tsx?$/.test(path)) return ALLOWED_TEST_IMPORTS;
  return /\/scripts\//.test(path) ? ALLOWED_SCRIPT_IMPORTS : {};
}

function roomOf(input: { root: string; file: string; specifier: string }): string | undefined {
  if (input.specifier.startsWith(PACKAGE_PREFIX)) {
    return input.specifier.slice(PACKAGE_PREFIX.length).split('/')[0];
  }
  if (!input.specifier.startsWith('.')) return undefined;
  const target = relative(input.root, resolve(input.file, '..', input.specifier));
  const [first, second] = target.split('/');
  return first !== undefined && first in GROUPS ? second : first;
}

/** Returns the problem with an import between two folders of a package, or null. */
function folderProblem(input: { root: string; path: string; specifier: string }): string | null {
  const { root, path, specifier } = input;
  if (!specifier.startsWith('.') || path.endsWith('.test.ts')) return null;
  const target = relative(root, resolve(root, path, '..', specifier));
  for (const [source, table] of Object.entries(FOLDERS)) {
    if (!path.startsWith(`${source}/`)) continue;
    const [from, to] = [folderIn(source, path), folderIn(source, target)];
    // The files directly in src assemble the parts, so they may import all of them.
    if (from === '.' || from === to) return null;
    const allowed = table[from];
    if (allowed === undefined)
      return `${path}: add ${from} to the table in proof/repository/rooms.ts`;
    return allowed.includes(to) ? null : `${path} imports ${source}/${to}: ${from} may not`;
  }
  return null;
}

function folderIn(source: string, path: string): string {
  const [folder = '.', ...rest] = path.slice(source.length + 1).split('/');
  return rest.length === 0 ? '.' : folder;
}

async function sourceFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && /\.(ts|tsx)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/(node_modules|dist)\//.test(path));
}
