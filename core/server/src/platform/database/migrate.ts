import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sleep } from '../sleep.ts';
import { connect, type Queryable } from './db.ts';
import { queryRow, queryRows, statement, t } from './statement.ts';

const MIGRATIONS = new URL('../../../sql/migrations/', import.meta.url);
/**
 * Functions and grants have no history. The current files are applied again whenever they change.
 */
const FUNCTIONS = new URL('../../../sql/functions/', import.meta.url);
const BASELINE = 'migrations/0001_baseline.sql';
/** Statements that must not block others run one at a time, outside a transaction, such as `create index concurrently`. */
const CONCURRENTLY = '.concurrently.sql';
/** The advisory lock of migrations. An arbitrary constant: two runners must use the same. */
const LOCK_ID = 7_302_511;
const LOCK_EVERY_MS = 100;
/** Twenty minutes: longer than any statement may take. */
const LOCK_TRIES_MAX = 12_000;
/** While a statement waits for a table, nobody else can use it. */
const TABLE_WAIT_MS = 1_000;
const TABLE_TRIES_MAX = 300;
const LOCK_NOT_AVAILABLE = '55P03';

const LOCK = statement('select pg_try_advisory_lock($1) as locked', { locked: t.boolean() });

const APPLIED = statement('select name, checksum from schema_migrations', {
  name: t.text(),
  checksum: t.text(),
});

interface SqlFile {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

export interface MigrateOptions {
  readonly url: string;
  readonly log?: (line: string) => void;
}

/**
 * Migrates the database to this version. Forward only, one transaction per step unless its name says otherwise, safe to
 * run in several processes at once and beside a service.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const log = options.log ?? (() => {});
  const db = await connect({
    url: options.url,
    applicationName: 'svc-asr migrate',
    statementTimeoutMs: 600_000,
  });
  try {
    await migrateOn(db, log);
  } finally {
    await db.end();
  }
}

/** The same on an open connection, which keeps the lock of migrations until it ends. */
export async function migrateOn(db: Queryable, log: (line: string) => void): Promise<void> {
  await lockMigrations(db);
  await db.query(`
    create table if not exists schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default clock_timestamp()
    )`);
  await applyMigrations(db, log);
  await applyFunctions(db, log);
}

/** Polls. A statement that waits would be one that `create index concurrently` waits for. */
async function lockMigrations(db: Queryable): Promise<void> {
  for (let tries = 0; tries < LOCK_TRIES_MAX; tries += 1) {
    const { locked } = await queryRow(db, LOCK, [LOCK_ID]);
    if (locked) return;
    await sleep(LOCK_EVERY_MS);
  }
  throw new Error('Another process has been migrating this database for twenty minutes.');
}

async function applyMigrations(db: Queryable, log: (line: string) => void): Promise<void> {
  const applied = await appliedChecksums(db);
  refuseUnreleasedSchema(applied);
  const files = await readSql(MIGRATIONS);
  for (const [index, file] of files.entries()) {
    const checksum = applied.get(file.name);
    if (checksum === undefined) {
      const began = performance.now();
      if (file.name.endsWith(CONCURRENTLY)) await applyConcurrently(db, file);
      else await applyFiles(db, [file]);
      const tookMs = Math.round(performance.now() - began);
      log(`migrate ${index + 1}/${files.length} ${file.name} (${tookMs} ms)`);
    } else if (checksum !== file.checksum) {
      throw new Error(
        `Migration ${file.name} was changed after this database ran it. Restore the file and add a new migration. ` +
          'For a development database, delete its directory.',
      );
    }
  }
}

/** Before the first release, the schema had other migrations, which the baseline replaced. */
function refuseUnreleasedSchema(applied: ReadonlyMap<string, string>): void {
  const hasMigrations = [...applied.keys()].some((name) => name.startsWith('migrations/'));
  if (!hasMigrations || applied.has(BASELINE)) return;
  throw new Error(
    'This database was created by a version before the first release and cannot be upgraded. ' +
      'Create an empty database and run `svc-admin migrate` on it. For a development database, delete its directory.',
  );
}

/** Applies all files or none, because the grants in the last file name functions of the others. */
async function applyFunctions(db: Queryable, log: (line: string) => void): Promise<void> {
  const applied = await appliedChecksums(db);
  const files = await readSql(FUNCTIONS);
  const changed = files.filter((file) => applied.get(file.name) !== file.checksum);
  if (changed.length === 0) return;
  await applyFiles(db, files);
  log(`migrate functions (${changed.map((file) => file.name).join(', ')})`);
}

/** Applies all files or none. Tries again if a table stays in use, so that the service can use it meanwhile. */
async function applyFiles(db: Queryable, files: readonly SqlFile[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await db.query('begin');
    try {
      await db.query(`set local lock_timeout = ${TABLE_WAIT_MS}`);
      for (const file of files) {
        await applySql(db, file, file.sql);
        await recordApplied(db, file);
      }
      await db.query('commit');
      return;
    } catch (error) {
      await db.query('rollback');
      if (!isTableInUse(error) || tries === TABLE_TRIES_MAX) throw error;
      await sleep(TABLE_WAIT_MS);
    }
  }
}

function isTableInUse(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error && 'code' in cause && cause.code === LOCK_NOT_AVAILABLE;
}

/** What was done stays done if a statement fails, so each can run again. */
async function applyConcurrently(db: Queryable, file: SqlFile): Promise<void> {
  for (const sql of file.sql.split(/;\n/)) await applySql(db, file, sql);
  await recordApplied(db, file);
}

async function applySql(db: Queryable, { name }: SqlFile, sql: string): Promise<void> {
  await db.query(sql).catch((error: Error) => {
    throw new Error(`Migration ${name} failed: ${error.message}`, { cause: error });
  });
}

async function recordApplied(db: Queryable, { name, checksum }: SqlFile): Promise<void> {
  await db.query(
    `insert into schema_migrations (name, checksum) values ($1, $2)
       on conflict (name) do update set checksum = $2, applied_at = clock_timestamp()`,
    [name, checksum],
  );
}

async function appliedChecksums(db: Queryable): Promise<Map<string, string>> {
  const rows = await queryRows(db, APPLIED);
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

async function readSql(folder: URL): Promise<SqlFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      return { name: qualified(folder, name), sql, checksum: sha256(sql) };
    }),
  );
}

function qualified(folder: URL, name: string): string {
  return `${basename(fileURLToPath(folder))}/${name}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
