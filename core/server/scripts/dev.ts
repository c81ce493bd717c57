import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { STREAM_PATH } from '@svc-asr/protocol';
import { Command, InvalidArgumentError } from 'commander';
import { findAccount, setConcurrency } from '../src/accounts/accounts.ts';
import { addMember } from '../src/accounts/people/members.ts';
import { setOperator } from '../src/accounts/people/operators.ts';
import { generateSecrets, parseConfig, type Config } from '../src/config.ts';
import { createPool } from '../src/platform/database/db.ts';
import { EngineNodeProcess } from '@svc-asr/local/engine-node-process.ts';
import { startLocalPostgres } from '@svc-asr/local/local-postgres.ts';
import { CompatibleProcess } from '@svc-asr/local/compatible-process.ts';
import { createAccountWithKey } from '@svc-asr/local/account-with-key.ts';
import { createLog } from '../src/platform/observe/log.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { startServer } from '../src/server.ts';
import { ensureCertificate, writeBundle } from './dev-certificate.ts';
import { removeLock, waitForPrevious, writeLock } from './dev-lock.ts';
import { refuseUsedPort } from './dev-port.ts';
import { readableLog, showProblem, showStart, showStep } from './dev-screen.ts';

/**
 * `npm run dev`: the whole service on this machine, over TLS. It starts its own PostgreSQL unless DATABASE_URL names one,
 * and keeps its data in .dev/ (or SVC_DEV_DIR), so that the next start finds the same account, key and certificate.
 * With `-- --engines 2` recognition runs in two engine nodes instead of this process, and with `-- --compatible`
 * svc-compatible serves programs that were written for OpenAI or Deepgram.
 */
process.once('SIGINT', stopStarting);
process.once('SIGTERM', stopStarting);
const FOLDER = resolve(process.env['SVC_DEV_DIR'] ?? join(import.meta.dirname, '../../../.dev'));
const DEMO_CREDIT_MS = 60 * 60_000;
const DEVELOPER = 'demo@example.com';
const ENGINES_MAX = 16;
/** A developer works with several programs at once. */
const SESSIONS_AT_ONCE = 5;
/** Open streams get this long to finish, and everything else ends within the second. */
const DRAIN_MS = 1_500;
const STOP_MS = 4_000;

interface Kept {
  readonly secrets: ReturnType<typeof generateSecrets>;
  /** The demonstration account, by the database it was made in. */
  readonly demo: { readonly accountId: string; readonly apiKey: string } | null;
}

interface Options {
  readonly engines: number;
  readonly compatible?: true;
}

/** Reads the options before anything is started. */
function parseOptions(): Options {
  const program = new Command('npm run dev --')
    .option(
      '--engines <number>',
      'run recognition in this many engine nodes',
      (value) => {
        const count = Number(value);
        if (Number.isInteger(count) && count >= 0 && count <= ENGINES_MAX) return count;
        throw new InvalidArgumentError(`Use a whole number from 0 to ${ENGINES_MAX}.`);
      },
      0,
    )
    .option('--compatible', 'also serve programs written for OpenAI or Deepgram')
    .addHelpText(
      'after',
      `
Environment:
  PORT             the port of the service (default: 8080)
  COMPATIBLE_PORT  the port of --compatible (default: 3002)
  SVC_DEV_DIR      the folder of the database, the key and the certificate (default: .dev)
  DATABASE_URL     a PostgreSQL of your own, which is migrated (default: one in SVC_DEV_DIR)

Ctrl-C stops everything. A second service needs a PORT and a SVC_DEV_DIR of its own:
  PORT=8081 SVC_DEV_DIR=.dev/second npm run dev`,
    );
  return program.parse().opts<Options>();
}

async function main(): Promise<void> {
  const options = parseOptions();
  const began = performance.now();
  const port = process.env['PORT'] || '8080';
  await mkdir(FOLDER, { recursive: true });
  await waitForPrevious(FOLDER, showStep);
  await refuseUsedPort({ variable: 'PORT', port });
  if (options.compatible === true) {
    await refuseUsedPort({ variable: 'COMPATIBLE_PORT', port: compatiblePort() });
  }
  await writeLock(FOLDER, 'running');
  const kept = await readKept();
  const postgres = process.env['DATABASE_URL'] ? null : await startDatabase();
  const databaseUrl = process.env['DATABASE_URL'] || (postgres?.url ?? '');
  const certificate = await ensureCertificate(join(FOLDER, 'tls'));
  const engines = await startEngines(options.engines);
  await prepareDatabase(databaseUrl);
  const logins = postgres === null ? {} : await ensureLogins(databaseUrl);
  const config = parseConfig({
    ...kept.secrets,
    PORT: port,
    TLS_CERT_FILE: certificate.certFile,
    TLS_KEY_FILE: certificate.keyFile,
    PUBLIC_STREAM_URL: `wss://localhost:${port}${STREAM_PATH}`,
    PUBLIC_URL: `https://localhost:${port}`,
    CONSOLE_DEV_MAILBOX: '1',
    NODE_ID: 'dev',
    ENGINE_ADDRESSES: engines.map(({ address }) => address).join(','),
    DATABASE_URL: databaseUrl,
    ...logins,
    ...process.env,
  });
  await ensurePages();
  const demo = await ensureDemo({ config, databaseUrl }, kept);
  await ensureDeveloper(databaseUrl, demo.accountId);
  await writeFile(join(FOLDER, 'kept.json'), JSON.stringify({ ...kept, demo }), { mode: 0o600 });
  const log = createLog({ level: config.logLevel, destination: readableLog });
  const server = await startServer(config, { log });
  // These settings replace the shell's, so the bundle has the authorities that the shell trusted. Python reads the second one, curl the third.
  const { NODE_EXTRA_CA_CERTS = '', SSL_CERT_FILE = '', CURL_CA_BUNDLE = '' } = process.env;
  const trusted = [NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, CURL_CA_BUNDLE].filter(Boolean);
  const bundle = await writeBundle(join(FOLDER, 'tls'), certificate.certFile, trusted);
  const environment = {
    SVC_BASE_URL: config.console.publicUrl,
    SVC_API_KEY: demo.apiKey,
    NODE_EXTRA_CA_CERTS: bundle,
    SSL_CERT_FILE: bundle,
    CURL_CA_BUNDLE: bundle,
  };
  await writeFile(join(FOLDER, 'env'), exportLines(environment), { mode: 0o600 });
  const compatible = options.compatible === true ? await startCompatible(environment) : null;
  showStart({
    url: config.console.publicUrl,
    compatibleUrl: compatible?.url ?? null,
    folder: shownPath(FOLDER),
    envFile: shownPath(join(FOLDER, 'env')),
    certFile: shownPath(certificate.certFile),
    email: DEVELOPER,
    apiKey: demo.apiKey,
    creditMs: demo.creditMs,
    database: postgres === null ? 'DATABASE_URL' : shownPath(join(FOLDER, 'postgres')),
    tookMs: performance.now() - began,
  });

  async function stop(): Promise<void> {
    showStep('stopping: open streams may finish');
    // What still runs ends with this process: PostgreSQL, recognisers and svc-compatible.
    setTimeout(() => process.exit(0), STOP_MS).unref();
    await writeLock(FOLDER, 'stopping');
    await Promise.all([compatible?.stop(), server.stop({ drainMs: DRAIN_MS })]);
    for (const engine of engines) engine.signal('SIGTERM');
    await Promise.all(engines.map((engine) => engine.exited()));
    await postgres?.stop();
    await removeLock(FOLDER);
  }
  let isStopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.off(signal, stopStarting);
    // Ctrl-C reaches this process twice: from the terminal, and from npm.
    process.on(signal, () => {
      if (!isStopping) void stop();
      isStopping = true;
    });
  }
}

/** Until the service runs there is nothing to finish. What was started ends with this process. */
function stopStarting(): void {
  process.exit(1);
}

/** Migrates the database. Says so only if there is something to do. */
async function prepareDatabase(url: string): Promise<void> {
  let isShown = false;
  const log = (): void => {
    if (!isShown) showStep('preparing the database');
    isShown = true;
  };
  await migrate({ url, log });
}

/** As the developer would type it. */
function shownPath(path: string): string {
  const shown = relative(process.cwd(), path);
  return shown.startsWith('..') ? path : shown;
}

function compatiblePort(): string {
  return process.env['COMPATIBLE_PORT'] || '3002';
}

async function startEngines(count: number): Promise<EngineNodeProcess[]> {
  if (count > 0) showStep(`starting ${count} engine nodes`);
  return Promise.all(Array.from({ length: count }, () => EngineNodeProcess.start()));
}

/** Any port with COMPATIBLE_PORT=0. The program trusts the service's certificate. */
async function startCompatible(environment: {
  readonly SVC_BASE_URL: string;
  readonly NODE_EXTRA_CA_CERTS: string;
}): Promise<CompatibleProcess> {
  const { SVC_BASE_URL: baseUrl, NODE_EXTRA_CA_CERTS } = environment;
  const args = ['--port', compatiblePort(), '--drain-seconds', '1'];
  return CompatibleProcess.start({ baseUrl, args, env: { NODE_EXTRA_CA_CERTS } });
}

/** A file for the shell: `. .dev/env` sets what the CLI, the SDK and the examples read. */
function exportLines(environment: Readonly<Record<string, string>>): string {
  const lines = Object.entries(environment).map(([name, value]) => `export ${name}='${value}'\n`);
  return lines.join('');
}

/** One login per job, as in production: a job that needs more rights than its login has fails here first. */
async function ensureLogins(databaseUrl: string): Promise<Record<string, string>> {
  const jobs = {
    DATABASE_URL: 'svc_all',
    CONSOLE_DATABASE_URL: 'svc_console',
    SIGN_IN_DATABASE_URL: 'svc_sign_in',
    SWEEPER_DATABASE_URL: 'svc_sweeper',
  };
  const db = createPool({ url: databaseUrl });
  const urls: Record<string, string> = {};
  try {
    for (const [name, role] of Object.entries(jobs)) {
      const login = `dev_${role}`;
      const { rowCount } = await db.query('select from pg_roles where rolname = $1', [login]);
      if (rowCount === 0) await db.query(`create role ${login} login noinherit`);
      await db.query(`grant ${role} to ${login}`);
      const url = new URL(databaseUrl);
      url.username = login;
      urls[name] = url.href;
    }
  } finally {
    await db.end();
  }
  return urls;
}

/** Builds the pages if they are missing. After a change to them, run `npm run build`. */
async function ensurePages(): Promise<void> {
  const pages = [
    ['web/console', 'dist/site/index.html'],
    ['web/site', 'dist/site/404.html'],
  ] as const;
  for (const [name, file] of pages) {
    const folder = resolve(import.meta.dirname, '../../..', name);
    if (existsSync(join(folder, file))) continue;
    showStep(name === 'web/site' ? 'building the documentation' : 'building the console');
    await promisify(execFile)('npm', ['run', '-s', 'build', '--prefix', folder]);
  }
}

/** Adds a person who can sign in to the console, as an owner of the demonstration account and an operator. */
async function ensureDeveloper(databaseUrl: string, accountId: string): Promise<void> {
  const db = createPool({ url: databaseUrl });
  try {
    await addMember(db, { accountId, email: DEVELOPER, role: 'owner', language: 'en' });
    await setOperator(db, { email: DEVELOPER, isOperator: true });
  } finally {
    await db.end();
  }
}

async function startDatabase() {
  showStep(`starting PostgreSQL in ${shownPath(join(FOLDER, 'postgres'))}`);
  return startLocalPostgres({ dataDir: join(FOLDER, 'postgres'), fsync: true });
}

async function readKept(): Promise<Kept> {
  const text = await readFile(join(FOLDER, 'kept.json'), 'utf8').catch(() => null);
  if (text === null) return { secrets: generateSecrets(), demo: null };
  const kept: Kept = JSON.parse(text);
  return kept;
}

/** Returns the account and key of the last start if the database still has them, else new ones with an hour of credit. */
async function ensureDemo(
  { config, databaseUrl }: { config: Config; databaseUrl: string },
  kept: Kept,
) {
  const db = createPool({ url: databaseUrl });
  try {
    const known = kept.demo === null ? null : await findAccount(db, kept.demo.accountId);
    if (kept.demo !== null && known !== null) return { ...kept.demo, creditMs: known.availableMs };
    showStep('creating a demonstration account with an hour of credit');
    const created = await createAccountWithKey(db, {
      name: 'Demonstration',
      creditMs: DEMO_CREDIT_MS,
      pepper: config.secrets.apiKeyPeppers[0].secret,
    });
    const { accountId, apiKey } = created;
    await setConcurrency(db, { id: accountId, limit: SESSIONS_AT_ONCE });
    return { accountId, apiKey, creditMs: DEMO_CREDIT_MS };
  } finally {
    await db.end();
  }
}

await main().catch((error: unknown) => {
  showProblem(error);
  process.exit(1);
});
