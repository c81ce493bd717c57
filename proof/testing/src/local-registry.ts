import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { listen } from '@svc-asr/runtime/listen.ts';

const STORE = resolve(import.meta.dirname, '../../../node_modules/.pnpm');
const run = promisify(execFile);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

interface Stored {
  readonly folder: string;
  readonly manifest: Manifest;
}

export interface LocalRegistry {
  /** Makes npm use this registry and its own cache, and nothing of the developer's settings. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs `npm install` in a folder. Returns what npm printed. */
  install(folder: string, packages: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/**
 * Serves the third-party packages of this clone to npm, on loopback. A test can install our packages with all their
 * dependencies as a user does, without the internet.
 */
export async function startLocalRegistry(cache: string): Promise<LocalRegistry> {
  const stored = await readStore();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const [name = '', version] = path.split('/-/');
    const versions = stored.get(name);
    if (versions === undefined) response.writeHead(404).end('{}');
    else if (version === undefined) response.end(JSON.stringify(packument(name, versions, url)));
    else sendTarball(response, versions.get(version)?.folder);
  });
  const port = await listen(server);
  const url = `http://127.0.0.1:${port}`;
  const env = {
    npm_config_registry: url,
    npm_config_cache: cache,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  };
  return {
    env,
    async install(folder, packages) {
      const { stdout, stderr } = await run('npm', ['install', ...packages], {
        cwd: folder,
        env: { PATH: pathWithThisNode(), HOME: cache, ...env },
      });
      return stdout + stderr;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** npm judges `engines` by the Node that runs it. */
function pathWithThisNode(): string {
  return `${resolve(process.execPath, '..')}:${process.env['PATH']}`;
}

async function readStore(): Promise<Map<string, Map<string, Stored>>> {
  const stored = new Map<string, Map<string, Stored>>();
  for (const entry of await readdir(STORE)) {
    const match = /^(@[^+]+\+)?([^@]+)@/.exec(entry);
    if (match === null) continue;
    const [, scope = '', bare = ''] = match;
    const folder = join(STORE, entry, 'node_modules', scope.replace('+', '/'), bare);
    if (!existsSync(join(folder, 'package.json'))) continue;
    const manifest: Manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const versions = stored.get(manifest.name) ?? new Map<string, Stored>();
    stored.set(manifest.name, versions.set(manifest.version, { folder, manifest }));
  }
  return stored;
}

function packument(name: string, versions: ReadonlyMap<string, Stored>, url: string): unknown {
  const entries = [...versions].map(([version, { manifest }]) => {
    const scripts = Object.keys(manifest.scripts ?? {});
    const hasInstallScript = scripts.some((script) => /^(pre|post)?install$/.test(script));
    const tarball = `${url}/${name}/-/${version}`;
    return [version, { ...manifest, hasInstallScript, dist: { tarball } }] as const;
  });
  const latest = [...versions.keys()].toSorted(byVersion).at(-1);
  return { name, 'dist-tags': { latest }, versions: Object.fromEntries(entries) };
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

function sendTarball(response: ServerResponse, folder: string | undefined): void {
  if (folder === undefined) {
    response.writeHead(404).end();
    return;
  }
  const options = ['--hard-dereference', '--exclude=./node_modules', '--transform=s,^\\.,package,'];
  const tar = spawn('tar', ['-czf', '-', ...options, '-C', folder, '.']);
  tar.stdout.pipe(response);
}
