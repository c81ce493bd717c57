import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rmdir,
  symlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { connect } from '@svc-asr/server/platform/database/db.ts';
import { fetchPostgres } from './embedded-postgres.ts';

/**
 * A local PostgreSQL server for tests, campaigns and development. It stops with the process that
 * started it. It asks for no password, so it listens on a socket file that only its account can reach,
 * and never on TCP: its superuser can run programs.
 */
export interface LocalPostgres {
  readonly url: string;
  readonly dataDir: string;
  /** The postmaster's process id, for campaigns that kill it. */
  pid(): Promise<number>;
  /**
   * Waits until it has stopped. `immediate` does not write a checkpoint: the next start recovers
   * from the log.
   */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  /** Resolves when the server has exited for any reason. */
  readonly ended: Promise<void>;
}

export interface LocalPostgresOptions {
  /**
   * The data directory, kept when the server stops and reused if it exists. Default: a temporary one.
   */
  readonly dataDir?: string;
  /** Whether commits must survive a crash. Off by default, because tests need no durability. */
  readonly fsync?: boolean;
  /** Further settings, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

const START_TIMEOUT_MS = 30_000;
/** PostgreSQL's default. It only names the socket file. */
const PORT = 5432;
/** The longest path of a socket file on macOS. Linux has 107. */
const SOCKET_PATH_BYTES = 103;
const run = promisify(execFile);

export async function startLocalPostgres(
  options: LocalPostgresOptions = {},
): Promise<LocalPostgres> {
  const binDir = await findPostgres();
  const account = await unprivilegedAccount();
  const dataDir = await openDataDir(options.dataDir, account);
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await initialize({ binDir, account, dataDir });

  const socketDir = await openSocketDir(dataDir, account);
  const settings = {
    max_connections: '200',
    fsync: options.fsync === true ? 'on' : 'off',
    // A crash without these is only safe if the directory is discarded.
    synchronous_commit: options.fsync === true ? 'on' : 'off',
    full_page_writes: options.fsync === true ? 'on' : 'off',
    ...options.settings,
    port: String(PORT),
    listen_addresses: '',
    unix_socket_directories: socketDir,
  };
  const temporary = [
    ...(options.dataDir === undefined ? [dataDir] : []),
    ...(socketDir === dataDir ? [] : [socketDir]),
  ];
  const server = spawnServer({ binDir, account, dataDir, temporary, settings });
  const url = socketUrl(socketDir);
  await waitUntilReady(url, server);

  return {
    url,
    dataDir,
    ended: server.ended,
    pid: async () =>
      Number((await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).split('\n')[0]),
    async stop(how = 'fast') {
      // A fast stop does not wait for clients. An immediate stop is like a crash.
      server.child.stdin?.end(how === 'fast' ? 'INT' : 'QUIT');
      await server.ended;
    },
  };
}

/** Returns the URL of another database on the same server. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/**
 * The URL of a server on this machine by the folder of its socket. The named host is not used, but a URL
 * without one can't have a user.
 */
export function socketUrl(folder: string): string {
  return `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`;
}

/** The data directory, which only its account can enter, unless its path is too long for a socket. */
async function openSocketDir(dataDir: string, account: Account | undefined): Promise<string> {
  const path = join(dataDir, `.s.PGSQL.${PORT}`);
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES) return dataDir;
  const folder = await mkdtemp('/tmp/svc-postgres-');
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  return folder;
}

/**
 * PostgreSQL's account can't enter root's folders. The data is then stored elsewhere, with a symlink at
 * the requested path.
 */
async function openDataDir(
  asked: string | undefined,
  account: Account | undefined,
): Promise<string> {
  if (asked !== undefined) await mkdir(asked, { recursive: true });
  const dataDir =
    asked === undefined ? await mkdtemp(join(tmpdir(), 'svc-postgres-')) : await realpath(asked);
  if (account === undefined) return dataDir;
  await chown(dataDir, account.uid, account.gid);
  const isOpen = await run('/bin/ls', [dataDir], { ...account, cwd: '/' }).catch(() => null);
  if (isOpen !== null || asked === undefined) return dataDir;
  const outside = await mkdtemp('/var/tmp/svc-postgres-');
  await chown(outside, account.uid, account.gid);
  await rmdir(dataDir);
  await symlink(outside, asked);
  return outside;
}

async function initialize(input: {
  binDir: string;
  account: Account | undefined;
  dataDir: string;
}): Promise<void> {
  const access = ['-U', 'postgres', '--auth-local', 'trust', '--auth-host', 'reject'];
  const args = ['-D', input.dataDir, ...access, '-E', 'UTF8', '--no-locale', '--no-sync'];
  await run(join(input.binDir, 'initdb'), args, { ...input.account, cwd: '/' });
}

interface Server {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  lastWords(): string;
}

/**
 * Runs the server under a shell whose standard input closes when this process ends for any reason. The
 * shell then stops the server and removes its temporary directories, so a killed campaign leaves nothing
 * behind.
 */
function spawnServer(input: {
  binDir: string;
  account: Account | undefined;
  dataDir: string;
  temporary: readonly string[];
  settings: Readonly<Record<string, string>>;
}): Server {
  const settings = Object.entries(input.settings).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const watch = `exec 3<&0; "$@" <&- 3<&- & server=$!
    { how=$(cat <&3); kill -"\${how:-QUIT}" $server 2>/dev/null; } & reader=$!
    exec 3<&-; wait $server; kill $reader 2>/dev/null
    rm -rf \${REMOVE:+"$REMOVE"} \${REMOVE_TOO:+"$REMOVE_TOO"}`;
  const [remove = '', removeToo = ''] = input.temporary;
  const child = spawn(
    '/bin/sh',
    ['-c', watch, 'postgres', join(input.binDir, 'postgres'), '-D', input.dataDir, ...settings],
    {
      ...input.account,
      cwd: '/',
      env: { ...process.env, REMOVE: remove, REMOVE_TOO: removeToo },
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe'],
    },
  );
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-4_000);
  });
  child.stdin?.on('error', () => {});
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return { child, ended, lastWords: () => words };
}

async function waitUntilReady(url: string, server: Server): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  let running = true;
  void server.ended.then(() => (running = false));
  for (;;) {
    try {
      const client = await connect({ url });
      await client.end();
      return;
    } catch (error) {
      if (!running || performance.now() > deadline) {
        server.child.stdin?.end('QUIT');
        throw new Error(`PostgreSQL did not start:\n${server.lastWords()}`, { cause: error });
      }
      await delay(25);
    }
  }
}

/**
 * Debian keeps the server's programs outside PATH, in one directory per version. If there are none,
 * uses the npm package.
 */
export async function findPostgres(): Promise<string> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const candidates = [
    ...versions
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => `/usr/lib/postgresql/${version}/bin`),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  const found = candidates.find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  );
  return found ?? fetchPostgres((line) => void process.stderr.write(`${line}\n`));
}

/** PostgreSQL refuses to run as root, so root starts it under another account. */
export async function unprivilegedAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const passwd = await readFile('/etc/passwd', 'utf8');
  for (const name of ['postgres', 'nobody']) {
    const line = passwd.split('\n').find((entry) => entry.startsWith(`${name}:`));
    const [, , uid, gid] = line?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL cannot run as root, and no other user account was found.');
}
