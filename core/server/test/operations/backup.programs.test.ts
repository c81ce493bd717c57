import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findViolations } from '../../src/ledger/reports/audit.ts';
import { attachDatabase, onServer } from '@svc-asr/testing/postgres/test-database.ts';
import { withDatabase } from '@svc-asr/local/local-postgres.ts';
import { openLedgerFixture, type LedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';

/** The restore drill of docs/operations/backup-and-restore.md, with the commands from that page. */

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

test('an encrypted backup restores to a ledger in which every invariant holds', async () => {
  const accountId = await fixture.account(60_000);
  await fixture.claim(await fixture.reserve(accountId));
  await fixture.owner.query(`update accounts set name = 'Findable Radio' where id = $1`, [
    accountId,
  ]);
  await shell(
    `openssl req -x509 -newkey rsa:3072 -nodes -days 3650 -subj /CN=backup -keyout backup.key -out backup.pem`,
  );
  await shell(
    `pg_dump -Fc '${fixture.database.url}' |
      openssl cms -encrypt -binary -stream -aes-256-gcm -outform DER -out svc.dump.cms backup.pem`,
  );
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
