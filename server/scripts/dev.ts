import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console-constants.ts';
import { createAccount, findAccount } from '../src/accounts/accounts.ts';
import { insertApiKey } from '../src/accounts/api-keys.ts';
import { inviteMember } from '../src/accounts/members.ts';
import { setOperator } from '../src/accounts/operators.ts';
import { generateApiKey, hashApiKey } from '../src/api-key-format.ts';
import { generateSecrets, parseConfig, type Config } from '../src/config.ts';
import { createPool } from '../src/db.ts';
import { createLedger } from '../src/ledger/ledger.ts';
import { startLocalPostgres } from '../src/local-postgres.ts';
import { createLog } from '../src/log.ts';
import { migrate } from '../src/migrate.ts';
import { startServer } from '../src/server.ts';
import { readableLog, showProblem, showStart, showStep } from './dev-screen.ts';

/**
 * `npm run dev`: the whole service on this machine. Brings its own PostgreSQL unless DATABASE_URL names one, and keeps
 * everything it made in .dev/, so that the next start finds the same account and key.
 */
const FOLDER = resolve(import.meta.dirname, '../../.dev');
const DEMO_CREDIT_MS = 60 * 60_000;
const DEVELOPER = 'demo@example.com';

interface Kept {
  readonly secrets: ReturnType<typeof generateSecrets>;
  /** The demonstration account, by the database it was made in. */
  readonly demo: { readonly accountId: string; readonly apiKey: string } | null;
}

async function main(): Promise<void> {
  const began = performance.now();
  await mkdir(FOLDER, { recursive: true });
  const kept = await readKept();
  const postgres = process.env['DATABASE_URL'] ? null : await startDatabase();
  const databaseUrl = process.env['DATABASE_URL'] || (postgres?.url ?? '');
  const port = process.env['PORT'] || '8080';
  const config = parseConfig({
    ...kept.secrets,
    PORT: port,
    PUBLIC_STREAM_URL: `ws://127.0.0.1:${port}/v1/asr/stream`,
    PUBLIC_URL: `http://localhost:${port}`,
    CONSOLE_DEV_MAILBOX: '1',
    ALLOW_INSECURE_WS: '1',
    NODE_ID: 'dev',
    ...process.env,
    DATABASE_URL: databaseUrl,
  });
  await migrate({ url: databaseUrl, log: showStep });
  await ensureConsole();
  const demo = await ensureDemo(config, kept);
  await ensureDeveloper(config, demo.accountId);
  await writeFile(join(FOLDER, 'kept.json'), JSON.stringify({ ...kept, demo }), { mode: 0o600 });
  const log = createLog({ level: config.logLevel, destination: readableLog });
  const server = await startServer(config, { log });
  showStart({
    url: server.url,
    consoleUrl: config.publicUrl,
    email: DEVELOPER,
    apiKey: demo.apiKey,
    creditMs: demo.creditMs,
    database: postgres === null ? 'DATABASE_URL' : '.dev/postgres',
    tookMs: performance.now() - began,
  });

  async function stop(): Promise<void> {
    showStep('stopping');
    await server.stop();
    await postgres?.stop();
  }
  process.once('SIGINT', () => void stop());
  process.once('SIGTERM', () => void stop());
}

/** The pages are made once; after a change to them, `npm run build` makes them again. */
async function ensureConsole(): Promise<void> {
  const folder = resolve(import.meta.dirname, '../../console');
  if (existsSync(join(folder, 'dist/site/index.html'))) return;
  showStep('building the console');
  await promisify(execFile)('npm', ['run', '-s', 'build', '--prefix', folder]);
}

/** Somebody who can sign in to the console: an owner of the demonstration account, and an operator. */
async function ensureDeveloper(config: Config, accountId: string): Promise<void> {
  const db = createPool({ url: config.databaseUrl });
  try {
    await inviteMember(db, {
      accountId,
      email: DEVELOPER,
      role: 'owner',
      language: 'en',
      limit: CONSOLE_LIMITS.members,
    });
    await setOperator(db, { email: DEVELOPER, isOperator: true });
  } finally {
    await db.end();
  }
}

async function startDatabase() {
  showStep('starting PostgreSQL in .dev/postgres');
  return startLocalPostgres({ dataDir: join(FOLDER, 'postgres'), fsync: true });
}

async function readKept(): Promise<Kept> {
  const text = await readFile(join(FOLDER, 'kept.json'), 'utf8').catch(() => null);
  if (text === null) return { secrets: generateSecrets(), demo: null };
  const kept: Kept = JSON.parse(text);
  return kept;
}

/** The account and key of the last start if the database still knows them, else new ones with an hour of credit. */
async function ensureDemo(config: Config, kept: Kept) {
  const db = createPool({ url: config.databaseUrl });
  try {
    const known = kept.demo === null ? null : await findAccount(db, kept.demo.accountId);
    if (kept.demo !== null && known !== null) return { ...kept.demo, creditMs: known.availableMs };
    showStep('creating a demonstration account with an hour of credit');
    const accountId = await createAccount(db, { name: 'Demonstration' });
    await createLedger(db).grant({
      accountId,
      ms: DEMO_CREDIT_MS,
      reason: 'credit for trying the service out',
      actor: 'npm run dev',
      id: randomUUID(),
    });
    const { key, publicId } = generateApiKey();
    const hmac = hashApiKey(key, config.apiKeyPepper);
    await insertApiKey(db, { id: publicId, accountId, hmac, name: 'npm run dev' });
    return { accountId, apiKey: key, creditMs: DEMO_CREDIT_MS };
  } finally {
    await db.end();
  }
}

await main().catch((error: unknown) => {
  showProblem(error);
  process.exit(1);
});
