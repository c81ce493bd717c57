import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findViolations } from '../../src/ledger/reports/audit.ts';
import { attachDatabase, onServer } from '@svc-asr/testing/postgres/test-database.ts';
import { withDatabase } from '@svc-asr/local/local-postgres.ts';
import { openLedgerFixture, type LedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';

/** The restore drill of docs/operations/backup-and-restore.md, with the commands from that page. */

const DUMP = join(import.meta.dirname, '../../../../deploy/postgres/dump.sh');
const run = promisify(execFile);
let fixture: LedgerFixture;
let folder: string;
beforeAll(async () => {
  fixture = await openLedgerFixture();
  folder = await mkdtemp(join(tmpdir(), 'backup-'));
});
afterAll(async () => {
  await fixture.drop();
  await rm(folder, { recursive: true });
});

const shell = (script: string) => run('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder });

function count(db: LedgerFixture['owner']) {
  return db.query(
    `select (select count(*) from txn) as txn, (select count(*) from audit_log) as log`,
  );
}

async function rolesFile(): Promise<string> {
  return (await readdir(folder)).find((name) => name.endsWith('.roles.sql')) ?? 'missing';
}

test('an encrypted backup restores to a ledger in which every invariant holds', async () => {
  const accountId = await fixture.account(60_000);
  await fixture.claim(await fixture.reserve(accountId));
  await fixture.owner.query(`update accounts set name = 'Findable Radio' where id = $1`, [
    accountId,
  ]);
  await shell(
    `openssl req -x509 -newkey rsa:3072 -nodes -days 3650 -subj /CN=backup -keyout backup.key -out backup.pem`,
  );
  await shell(`'${DUMP}' . backup.pem '${fixture.database.url}'`);
  await shell('mv svc-*.dump.cms svc.dump.cms');
  expect(await readFile(join(folder, await rolesFile()), 'utf8')).toContain('svc_operator');
  const stored = await readFile(join(folder, 'svc.dump.cms'));
  expect(stored.includes('Findable Radio')).toBe(false);
  expect(stored.includes('PGDMP')).toBe(false);

  const name = `restored_${randomUUID().replaceAll('-', '')}`;
  const adminUrl = process.env['TEST_DATABASE_ADMIN_URL'] ?? '';
  await onServer(adminUrl, (db) => db.query(`create database ${name}`));
  const url = withDatabase(adminUrl, name);
  await shell(
    `openssl cms -decrypt -binary -inform DER -in svc.dump.cms -inkey backup.key -out svc.dump
      pg_restore --exit-on-error -d '${url}' svc.dump`,
  );
  const restored = attachDatabase(url);
  try {
    expect(await findViolations(restored.pool)).toEqual([]);
    expect((await count(restored.pool)).rows).toEqual((await count(fixture.owner)).rows);
  } finally {
    await restored.drop();
    await onServer(adminUrl, (db) => db.query(`drop database ${name} with (force)`));
  }
});

test('a backup that was changed is not decrypted', async () => {
  const file = join(folder, 'svc.dump.cms');
  const stored = await readFile(file);
  stored.writeUInt8(stored.readUInt8(stored.length - 500) ^ 1, stored.length - 500);
  await writeFile(file, stored);
  await expect(
    shell('openssl cms -decrypt -binary -inform DER -in svc.dump.cms -inkey backup.key -out bad'),
  ).rejects.toThrow('Command failed');
});

test.each([
  ['the database is missing', 'backup.pem', 'postgresql:///nobody?host=/nowhere'],
  ['the certificate is missing', 'missing.pem', null],
])('a backup fails and leaves no file if %s', async (_, certificate, url) => {
  const before = await readdir(folder);
  const database = url ?? fixture.database.url;
  await expect(shell(`'${DUMP}' . ${certificate} '${database}'`)).rejects.toThrow('Command failed');
  expect(await readdir(folder)).toEqual(before);
});

test('a dump that ends halfway leaves no file', async () => {
  const before = await readdir(folder);
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'bin/pg_dump'), '#!/bin/sh\necho PGDMP\nexit 1\n', { mode: 0o755 });
  const command = `PATH="$PWD/bin:$PATH" '${DUMP}' . backup.pem '${fixture.database.url}'`;
  await expect(shell(command)).rejects.toThrow('Command failed');
  expect((await readdir(folder)).toSorted()).toEqual([...before, 'bin'].toSorted());
});
