import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAdmin } from '../../src/admin/program.ts';
import { connect } from '../../src/platform/database/db.ts';
import { withDatabase } from '@svc-asr/local/local-postgres.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { openLedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';
import {
  createTestDatabase,
  onServer,
  type TestDatabase,
} from '@svc-asr/testing/postgres/test-database.ts';

let template: TestDatabase;
let url: string;
const name = `empty_${randomUUID().replaceAll('-', '')}`;
beforeAll(async () => {
  template = await createTestDatabase();
  await onServer(template.url, (db) => db.query(`create database ${name}`));
  url = withDatabase(template.url, name);
});
afterAll(async () => {
  await onServer(template.url, (db) => db.query(`drop database ${name} with (force)`));
  await template.drop();
});

test('many processes can migrate at once; one of them runs and logs each step', async () => {
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  await Promise.all([migrate({ url, log }), migrate({ url, log }), migrate({ url, log })]);
  expect(lines.filter((line) => line.includes('0001_baseline.sql'))).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith('migrate functions'))).toHaveLength(1);

  lines.length = 0;
  await migrate({ url, log });
  expect(lines).toEqual([]);
});

test('`svc-admin migrate` migrates, and does nothing the second time', async () => {
  const fresh = `${name}_operator`;
  await onServer(template.url, (db) => db.query(`create database ${fresh}`));
  const env = { DATABASE_URL: withDatabase(template.url, fresh) };
  let said = '';
  const tell = (text: string) => void (said += text);
  const terminal = { env, devFolder: '/nowhere', out: tell, err: tell };
  try {
    expect(await runAdmin(['migrate'], terminal)).toBe(0);
    expect(said).toContain('0001_baseline.sql');
    expect(await runAdmin(['audit', '--safety'], terminal)).toBe(0);
    said = '';
    expect(await runAdmin(['migrate', '--json'], terminal)).toBe(0);
    expect(JSON.parse(said)).toEqual({ steps: 0 });
  } finally {
    await onServer(template.url, (db) => db.query(`drop database ${fresh} with (force)`));
  }
});

test('restores a changed function and refuses an edited migration', async () => {
  const db = await connect({ url });
  try {
    await db.query(
      `create or replace function lease_length() returns interval language sql as $$ select null::interval $$`,
    );
    await db.query(
      `update schema_migrations set checksum = 'older' where name = 'functions/10_guards.sql'`,
    );
    await migrate({ url });
    const { rows } = await db.query<{ seconds: string }>(
      `select extract(epoch from lease_length())::text as seconds`,
    );
    expect(rows).toEqual([{ seconds: '6.000000' }]);

    await db.query(
      `update schema_migrations set checksum = 'edited' where name = 'migrations/0001_baseline.sql'`,
    );
    await expect(migrate({ url })).rejects.toThrow('was changed after this database ran it');
  } finally {
    await db.end();
  }
});

test('refuses a database of a version before the first release, and leaves it unchanged', async () => {
  const old = `${name}_unreleased`;
  await onServer(template.url, (db) => db.query(`create database ${old}`));
  const oldUrl = withDatabase(template.url, old);
  try {
    await onServer(oldUrl, (db) =>
      db.query(`create table schema_migrations (name text primary key, checksum text not null);
        insert into schema_migrations values ('migrations/0001_accounts.sql', 'x')`),
    );
    await expect(migrate({ url: oldUrl })).rejects.toThrow(
      'was created by a version before the first release and cannot be upgraded. Create an empty database',
    );
    const tables = await onServer(oldUrl, (db) =>
      db.query(`select tablename from pg_tables where schemaname = 'public'`),
    );
    expect(tables.rows).toEqual([{ tablename: 'schema_migrations' }]);
  } finally {
    await onServer(template.url, (db) => db.query(`drop database ${old} with (force)`));
  }
});

test('two keys with different names become keys of their own, and a rotation stays a rotation', async () => {
  const old = await createTestDatabase();
  const db = old.pool;
  try {
    // As an older version left it.
    await db.query(`delete from schema_migrations
      where name in ('migrations/0003_keys_with_successors.sql', 'functions/85_audit_log.sql')`);
    await db.query('alter table accounts drop column key_limit cascade');
    const numbers = async (name: string) => {
      const id = randomUUID();
      await db.query('insert into accounts (id, name) values ($1, $2)', [id, name]);
      for (const [at, key] of ['server', name].entries()) {
        await db.query(
          `insert into api_keys (id, account_id, hmac, name, live_number) values ($1, $2, $3, $4, $5)`,
          [id.slice(0, 8) + String(1_000 + at), id, Buffer.alloc(32), key, at + 1],
        );
      }
      return async () => {
        const { rows } = await db.query<{ live_number: number }>(
          'select live_number from api_keys where account_id = $1 order by id',
          [id],
        );
        return rows.map(({ live_number: number }) => number);
      };
    };
    const rotated = await numbers('server');
    const unrelated = await numbers('phone');
    await migrate({ url: old.url });
    expect(await rotated()).toEqual([1, 2]);
    expect(await unrelated()).toEqual([1, 3]);
    const { rows } = await db.query('select distinct key_limit from accounts');
    expect(rows).toEqual([{ key_limit: 10 }]);
  } finally {
    await old.drop();
  }
});

test('the service writes sessions while an index on them is built', async () => {
  const fixture = await openLedgerFixture();
  const { pool, url: database } = fixture.database;
  const reader = await pool.connect();
  try {
    await pool.query(`delete from schema_migrations where name like '%.concurrently.sql'`);
    await pool.query('drop index sessions_continued');
    await fixture.reserve(await fixture.account(60_000));
    // A transaction that has written a session, and that the index waits for.
    await reader.query('begin');
    await reader.query('update sessions set key_id = key_id');
    const migrating = migrate({ url: database });
    await eventually(async () => {
      const { rows } = await pool.query(
        `select from pg_stat_progress_create_index
          where datname = current_database() and phase like 'waiting for writers%'`,
      );
      return rows.length === 1;
    });
    await fixture.reserve(await fixture.account(60_000));
    await reader.query('commit');
    await migrating;
    const { rows } = await pool.query(
      `select indisvalid from pg_index where indexrelid = 'sessions_continued'::regclass`,
    );
    expect(rows).toEqual([{ indisvalid: true }]);
  } finally {
    reader.release();
    await fixture.drop();
  }
});

test('a table in use delays a migration, and not the service', async () => {
  const fixture = await openLedgerFixture();
  const { pool, url: database } = fixture.database;
  const auditor = await pool.connect();
  try {
    await pool.query(
      `update schema_migrations set checksum = 'older' where name = 'functions/10_guards.sql'`,
    );
    await auditor.query('begin');
    await auditor.query('select count(*) from sessions');
    const migrating = migrate({ url: database });
    await eventually(async () => {
      const { rows } = await pool.query(
        `select from pg_locks where relation = 'sessions'::regclass and not granted`,
      );
      return rows.length > 0;
    });
    // It waits behind the migration for a second.
    const reserved = await fixture.tryReserve(await fixture.account(60_000));
    expect(reserved.outcome).toBe('reserved');
    await auditor.query('commit');
    await migrating;
  } finally {
    auditor.release();
    await fixture.drop();
  }
});

test('no migration scans a table of an earlier one in a transaction', async () => {
  const folder = new URL('../../sql/migrations/', import.meta.url);
  const names = (await readdir(folder)).filter((name) => !name.endsWith('.concurrently.sql'));
  for (const name of names) {
    const sql = await readFile(new URL(name, folder), 'utf8');
    const own = [...sql.matchAll(/^create table (\w+)/gm)].map(([, table]) => table);
    const indexed = [...sql.matchAll(/^create (?:unique )?index \w+ on (\w+)/gm)];
    expect(own, name).toEqual(expect.arrayContaining(indexed.map(([, table]) => table)));
    expect(sql, name).not.toMatch(/validate constraint/);
  }
});
