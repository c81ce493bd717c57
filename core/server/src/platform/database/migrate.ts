import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, type Queryable } from './db.ts';
import { queryRows, statement, t } from './statement.ts';

const MIGRATIONS = new URL('../../../sql/migrations/', import.meta.url);
/**
 * Functions and grants have no history. The current files are applied again whenever they change.
 */
const FUNCTIONS = new URL('../../../sql/functions/', import.meta.url);
const BASELINE = 'migrations/0001_baseline.sql';
/** The advisory lock of migrations. An arbitrary constant: two runners must use the same. */
const LOCK_ID = 7_302_511;

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
 * Migrates the database to this version. Forward only, one transaction per step, safe to run in
 * several processes at once.
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
  await db.query('select pg_advisory_lock($1)', [LOCK_ID]);
  await db.query(`
    create table if not exists schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default clock_timestamp()
    )`);
  await applyMigrations(db, log);
  await applyFunctions(db, log);
}

async function applyMigrations(db: Queryable, log: (line: string) => void): Promise<void> {
  const applied = await appliedChecksums(db);
  refuseUnreleasedSchema(applied);
  const files = await readSql(MIGRATIONS);
  for (const [index, file] of files.entries()) {
    const checksum = applied.get(file.name);
    if (checksum === undefined) {
      const began = performance.now();
      await applyFiles(db, [file]);
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

async function applyFiles(db: Queryable, files: readonly SqlFile[]): Promise<void> {
  await db.query('begin');
  try {
    for (const file of files) {
      await db.query(file.sql).catch((error: Error) => {
        throw new Error(`Migration ${file.name} failed: ${error.message}`, { cause: error });
      });
      await db.query(
        `insert into schema_migrations (name, checksum) values ($1, $2)
           on conflict (name) do update set checksum = $2, applied_at = clock_timestamp()`,
        [file.name, file.checksum],
      );
    }
    await db.query('commit');
  } catch (error) {
    await db.query('rollback');
    throw error;
  }
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
