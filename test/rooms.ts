import { readdir, readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

/** Which package may import which. */
export const ALLOWED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  engine: ['protocol'],
  server: ['engine', 'protocol'],
  testing: ['server', 'engine', 'protocol'],
  sdk: ['protocol'],
  'sdk-python': [],
  // The emulator only in tests.
  integrations: ['sdk', 'protocol', 'emulator', 'testing'],
  cli: ['sdk', 'protocol'],
  console: ['sdk', 'protocol'],
  // Its design tokens, its icon and how it compresses files.
  site: ['protocol', 'console'],
  emulator: ['server', 'testing', 'engine', 'protocol'],
  examples: ['sdk'],
  models: ['engine', 'protocol'],
  eval: ['engine', 'models', 'protocol'],
  bench: ['server', 'testing', 'engine', 'protocol', 'sdk', 'emulator', 'eval'],
  simulate: ['server', 'testing', 'engine', 'protocol', 'sdk'],
};

/** Further imports that tests and development scripts may use. Production source may not. */
export const ALLOWED_TEST_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  engine: ['testing'],
  models: ['testing'],
  server: ['testing'],
  sdk: ['testing', 'emulator', 'engine'],
  cli: ['testing', 'emulator'],
  console: ['testing', 'emulator'],
};

/** Which folder of server/src may import which. Platform code knows nothing of speech or money. */
export const ALLOWED_SERVER_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  ledger: ['platform'],
  accounts: ['platform', 'ledger'],
  nodes: ['platform', 'ledger'],
  cells: ['platform', 'ledger', 'accounts'],
  sessions: ['platform', 'ledger', 'accounts', 'nodes', '.'],
  http: ['platform', 'ledger', 'accounts', 'nodes', 'sessions', '.'],
  gateway: ['platform', 'ledger', 'accounts', 'nodes', 'sessions', '.'],
  console: ['platform', 'ledger', 'accounts', 'nodes', 'sessions', '.'],
  admin: ['platform', 'ledger', 'accounts', 'nodes', 'cells', 'sessions', '.'],
};

const IMPORT = /(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g;
const PACKAGE_PREFIX = '@svc-asr/';
const SERVER_SOURCE = 'server/src';

/** Lists every import that the three tables forbid. */
export async function findForbiddenImports(root: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [room, allowed] of Object.entries(ALLOWED_IMPORTS)) {
    for (const file of await sourceFiles(join(root, room))) {
      const path = relative(root, file);
      const allowedHere = isTestCode(path)
        ? [...allowed, ...(ALLOWED_TEST_IMPORTS[room] ?? [])]
        : allowed;
      const text = await readFile(file, 'utf8');
      for (const [, specifier = ''] of text.matchAll(IMPORT)) {
        if (/^@svc-asr\/[\w-]+\/test\//.test(specifier)) {
          problems.push(`${path} imports a test folder: ${specifier}`);
        }
        const target = roomOf({ root, file, specifier });
        if (target === undefined) continue;
        if (target !== room && !allowedHere.includes(target)) {
          problems.push(`${path} imports ${target}: ${room} may not`);
        }
        const problem = serverProblem({ root, path, specifier });
        if (problem !== null) problems.push(problem);
      }
    }
  }
  return problems;
}

function isTestCode(path: string): boolean {
  return /\/(test|scripts)\//.test(path) || /\.test\.tsx?$/.test(path);
}

function roomOf(input: { root: string; file: string; specifier: string }): string | undefined {
  if (input.specifier.startsWith(PACKAGE_PREFIX)) {
    return input.specifier.slice(PACKAGE_PREFIX.length).split('/')[0];
  }
  if (!input.specifier.startsWith('.')) return undefined;
  const target = relative(input.root, resolve(input.file, '..', input.specifier));
  return target.split('/')[0];
}

/** Returns the problem with an import between two folders of server/src, or null. */
function serverProblem(input: { root: string; path: string; specifier: string }): string | null {
  const { root, path, specifier } = input;
  if (!path.startsWith(`${SERVER_SOURCE}/`) || path.endsWith('.test.ts')) return null;
  if (!specifier.startsWith('.')) return null;
  const from = serverFolder(path);
  const to = serverFolder(relative(root, resolve(root, path, '..', specifier)));
  // The files directly in server/src assemble the parts, so they may import all of them.
  if (from === '.' || from === to) return null;
  const allowed = ALLOWED_SERVER_IMPORTS[from];
  if (allowed === undefined) return `${path}: add ${from} to the table in test/rooms.ts`;
  return allowed.includes(to) ? null : `${path} imports server/src/${to}: ${from} may not`;
}

function serverFolder(path: string): string {
  const [folder = '.', ...rest] = path.slice(SERVER_SOURCE.length + 1).split('/');
  return rest.length === 0 ? '.' : folder;
}

async function sourceFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && /\.(ts|tsx)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/(node_modules|dist)\//.test(path));
}
