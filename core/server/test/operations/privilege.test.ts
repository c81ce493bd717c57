import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setOperator } from '../../src/accounts/people/operators.ts';
import { addMember, findPersonByEmail } from '../../src/accounts/people/members.ts';
import { joinWaitlist, findWaitlistEntry } from '../../src/accounts/waitlist.ts';
import { createPool, type DatabaseRole, type Pool } from '../../src/platform/database/db.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openLedgerFixture, type LedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';
import { onServer } from '@svc-asr/testing/postgres/test-database.ts';
import { withDatabase } from '@svc-asr/local/local-postgres.ts';

/** The limits of a stolen database login with the documented roles. */

let fixture: LedgerFixture;
const logins: string[] = [];
beforeAll(async () => {
  fixture = await openLedgerFixture();
});
afterAll(async () => {
  await fixture.drop();
  const admin = process.env['TEST_DATABASE_ADMIN_URL'] ?? '';
  await onServer(admin, async (db) => {
    for (const login of logins) await db.query(`drop role if exists ${login}`);
  });
});

/** A login that may assume only this role, as docs/operations/install.md creates it. */
async function loginFor(role: DatabaseRole): Promise<{ url: string; pool: Pool }> {
  const name = `login_${randomUUID().replaceAll('-', '')}`;
  logins.push(name);
  await fixture.owner.query(`create role ${name} login noinherit`);
  await fixture.owner.query(`grant ${role} to ${name}`);
  const url = new URL(fixture.database.url);
  url.username = name;
  url.password = '';
  return { url: url.href, pool: createPool({ url: url.href, role }) };
}

async function outcome(db: Pool, sql: string, values: readonly unknown[] = []): Promise<unknown> {
  try {
    const { rows } = await db.query<Record<string, unknown>>(sql, [...values]);
    return rows[0] === undefined ? null : Object.values(rows[0])[0];
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

test('the console role cannot mint credit in the name of an operator', async () => {
  const email = 'operator@example.com';
  const accountId = await fixture.account(0);
  await addMember(fixture.owner, { accountId, email, role: 'owner', language: 'en' });
  await setOperator(fixture.owner, { email, isOperator: true });
  const operator = await findPersonByEmail(fixture.owner, email);
  await joinWaitlist(fixture.owner, { email: 'accomplice@example.com', name: '', purpose: '' });
  const entry = await findWaitlistEntry(fixture.owner, 'accomplice@example.com');
  const token = 'A'.repeat(43);
  const db = fixture.database.as('svc_console');
  await fixture.owner.query(
    `insert into console_sessions (token_hash, user_id, account_id, verified_by, expires_at)
      values (sha256($1), $2, $3, 'code', clock_timestamp() + interval '1 hour')`,
    [Buffer.from('B'.repeat(43)), operator?.id, accountId],
  );
  const attempts = [
    outcome(db, `select approve_as_operator($1::uuid, $2, $3, $4, '')`, [
      operator?.id,
      entry?.id,
      randomUUID(),
      1e12,
    ]),
    outcome(db, `select approve_as_operator($1::text, $2, $3, $4, '')`, [
      operator?.id,
      entry?.id,
      randomUUID(),
      1e12,
    ]),
    outcome(
      db,
      `insert into console_sessions (token_hash, user_id, expires_at)
        values (sha256($1), $2, clock_timestamp() + interval '1 hour')`,
      [Buffer.from(token), operator?.id],
    ),
    outcome(db, 'select token_hash from console_sessions'),
    outcome(db, 'delete from passkeys'),
    outcome(db, 'select code_hash from operator_enrolments'),
    outcome(db, `update console_sessions set confirmed_at = clock_timestamp()`),
    outcome(
      db,
      `select request_sign_in_code($1, $2, $3, array[$3::bytea], '{}', $3, interval '1 hour')`,
      [randomUUID(), operator?.id, Buffer.alloc(32)],
    ),
    outcome(db, `select open_console_session($1, $2, 'passkey', null, null)`, [
      Buffer.alloc(32),
      operator?.id,
    ]),
    outcome(
      db,
      `insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name)
        values (gen_random_uuid(), $1, 'x', '\\x00', 0, '{}', 'x')`,
      [operator?.id],
    ),
  ];
  const refused = new Set(['42501', '42883', 'not_found']);
  expect((await Promise.all(attempts)).filter((said) => !refused.has(String(said)))).toEqual([]);
  expect(await findWaitlistEntry(fixture.owner, 'accomplice@example.com')).toMatchObject({
    status: 'waiting',
  });
});

test('a node login cannot take over the id of another node', async () => {
  const [first, second] = [await loginFor('svc_node'), await loginFor('svc_node')];
  try {
    const register = (pool: Pool, url: string) =>
      outcome(pool, `select register_node('victim', $1, array['m'], 10, null)`, [url]);
    expect(await register(first.pool, 'wss://victim.example')).toBe(1);
    expect(await register(second.pool, 'wss://evil.example')).toBe('42501');
    expect(await register(second.pool, 'wss://victim.example')).toBe('42501');
    expect(await outcome(second.pool, `select renew_node('victim', 1, 0, 0, true)`)).toBe(false);
    expect(await outcome(second.pool, `select retire_node('victim', 1)`)).toBe(false);
    // The login that owns the id restarts and moves it.
    expect(await register(first.pool, 'wss://elsewhere.example')).toBe(2);
    expect(await outcome(first.pool, `select retire_node('victim', 2)`)).toBe(true);
  } finally {
    await Promise.all([first.pool.end(), second.pool.end()]);
  }
});

test('a login of one job gains nothing with reset role or the role of another job', async () => {
  const { pool } = await loginFor('svc_node');
  const client = await pool.connect();
  try {
    await client.query('reset role');
    for (const role of ['svc_api', 'svc_console', 'svc_sign_in', 'svc_sweeper', 'svc_all']) {
      await expect(client.query(`set role ${role}`)).rejects.toThrow('permission denied');
    }
    await expect(client.query('select * from accounts')).rejects.toThrow('permission denied');
  } finally {
    client.release();
    await pool.end();
  }
});

test('the owner of the schema migrates without CREATEROLE and cannot reach the host', async () => {
  const name = `owner_${randomUUID().replaceAll('-', '')}`;
  const adminUrl = process.env['TEST_DATABASE_ADMIN_URL'] ?? '';
  const url = new URL(withDatabase(adminUrl, name));
  url.username = name;
  url.password = '';
  await onServer(adminUrl, async (db) => {
    await db.query(`create role ${name} login nosuperuser nocreaterole nocreatedb`);
    await db.query(
      `grant svc_api, svc_node, svc_sweeper, svc_console, svc_sign_in, svc_auditor, svc_operator,
        svc_mover, svc_all to ${name} with admin option`,
    );
    await db.query(`create database ${name} owner ${name}`);
  });
  const pool = createPool({ url: url.href });
  try {
    await migrate({ url: url.href });
    const attempts = [
      'create role intruder login',
      `grant pg_execute_server_program to ${name}`,
      `grant pg_read_server_files to ${name}`,
      `copy (select 1) to program 'true'`,
      `select pg_read_file('/etc/passwd')`,
      `alter role ${name} createrole`,
    ];
    for (const sql of attempts) expect(await outcome(pool, sql), sql).toBe('42501');
  } finally {
    await pool.end();
    await onServer(adminUrl, async (db) => {
      await db.query(`drop database ${name} with (force)`);
      await db.query(`drop owned by ${name} cascade`);
      await db.query(`drop role ${name}`);
    });
  }
});
