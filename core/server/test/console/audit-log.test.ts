import type { Activity, KeyList, Settings } from '@svc-asr/protocol/console/console.ts';
import { afterAll, expect, test } from 'vitest';
import {
  AUDIT_SEARCH_MAX,
  listAuditLog,
  withAuditContext,
} from '../../src/accounts/logs/audit-log.ts';
import { findViolations } from '../../src/ledger/reports/audit.ts';
import { runAdmin } from '../../src/admin/program.ts';
import { startOperator } from '../support/console/console-operator.ts';
import { startConsoleService, type TestBrowser } from '../support/console/console-service.ts';

const service = await startConsoleService();
afterAll(() => service.stop());

async function activityOf(browser: TestBrowser): Promise<Activity['data']> {
  return (await browser.get<Activity>('/activity')).body.data;
}

async function admin(...words: readonly string[]): Promise<{ status: number; out: string }> {
  let out = '';
  const env = { DATABASE_URL: service.database.url };
  const write = (text: string) => void (out += text);
  const status = await runAdmin(words, { env, devFolder: '/nowhere', out: write, err: write });
  return { status, out };
}

test('an owner sees who created and revoked a key, from where and in which request', async () => {
  const owner = await service.signedIn('owner@example.com');
  const { key } = await owner.createKey('server');
  await owner.post(`/keys/${key.id}/rename`, { name: 'a new name' });
  const revoked = await owner.post(`/keys/${key.id}/revoke`);
  expect((await owner.get<KeyList>('/keys')).body.data[0]?.status).toBe('revoked');
  const entries = await activityOf(owner);
  expect(entries.find(({ action }) => action === 'api_key.changed')).toMatchObject({
    actor: 'owner@example.com',
    target: key.id,
    before: expect.stringContaining('null'),
    after: expect.stringMatching(/revoked_at.*20\d\d-/),
    source: expect.stringMatching(/^127\.0\.0\.1$|::/),
    request_id: revoked.headers.get('x-request-id'),
  });
  expect(entries.map(({ action }) => action).toReversed()).toEqual([
    'account.created',
    'member.created',
    'waitlist.changed',
    'credit.grant',
    'sign_in',
    'api_key.created',
    'api_key.renamed',
    'api_key.changed',
  ]);
  // The log is permanent, and names are erased with their account.
  const { rows } = await service.database.pool.query<{ log: string }>(
    `select string_agg(l::text, ' ') as log from audit_log l`,
  );
  expect(rows[0]?.log).not.toContain('a new name');
});

test('members, invitations, origins and limits are logged with the values before and after', async () => {
  const owner = await service.signedIn('team@example.com');
  const member = await service.joined(owner, { email: 'colleague@example.com', role: 'member' });
  const { body } = await owner.get<Settings>('/settings');
  const id = body.members.find(({ email }) => email === 'colleague@example.com')?.id;
  await owner.post(`/settings/members/${id}/role`, { role: 'owner' });
  await owner.post('/settings/origins', { allowed_origins: ['https://app.example.com'] });
  await member.post('/settings/leave');
  const entries = await activityOf(owner);
  const changes = entries
    .filter(({ target, action }) => target === id || action.startsWith('account.changed'))
    .map(({ action, before, after }) => [action, before, after]);
  expect(changes.toReversed()).toEqual([
    ['member.created', null, '{"role": "member"}'],
    ['member.changed', '{"role": "member"}', '{"role": "owner"}'],
    [
      'account.changed',
      '{"allowed_origins": null}',
      '{"allowed_origins": ["https://app.example.com"]}',
    ],
    ['member.deleted', '{"role": "owner"}', null],
  ]);
  // The colleague left their only account and was deleted, so the log no longer names them.
  expect(entries.find(({ action }) => action === 'member.deleted')?.actor).toBeNull();
});

test('only owners read the log, and only that of their account', async () => {
  const owner = await service.signedIn('private@example.com');
  const member = await service.joined(owner, { email: 'nosy@example.com', role: 'member' });
  expect((await member.get('/activity')).status).toBe(403);
  const other = await service.signedIn('other-tenant@example.com');
  expect(JSON.stringify(await activityOf(other))).not.toContain('private@example.com');
});

test('owners see what an operator did, and neither who it was nor from where', async () => {
  const email = 'desk@example.com';
  await startOperator(service, email);
  const owner = await service.signedIn('watched@example.com');
  const { rows } = await service.database.pool.query<{ operator: string; account: string }>(
    `select o.id as operator, m.account_id as account from console_users o, console_users u
      join memberships m on m.user_id = u.id where o.email = $1 and u.email = 'watched@example.com'`,
    [email],
  );
  const { operator = '', account = '' } = rows[0] ?? {};
  const context = { actorId: operator, requestId: 'req_test', source: '192.0.2.7' };
  await withAuditContext(service.database.pool, context, (db) =>
    db.query(`update accounts set status = 'suspended' where id = $1`, [account]),
  );
  const entries = await activityOf(owner);
  expect(entries[0]).toMatchObject({ action: 'account.changed', by: 'operator', actor: null });
  expect(JSON.stringify(entries)).not.toContain('192.0.2.7');
  expect(JSON.stringify(entries)).not.toContain(email);
});

test('the actor of an operator command is the database login', async () => {
  const accountId = await service.admit('spoken-for@example.com');
  await admin('accounts', 'suspend', accountId);
  await admin('credit', 'grant', accountId, '1h', '--reason', 'apology');
  expect((await admin('--actor', 'somebody-else', 'accounts', 'list')).status).toBe(2);
  const { out } = await admin('audit-log', '--account', accountId, '--json');
  const entries: { action: string; actor: string; before: string; after: string }[] =
    JSON.parse(out);
  expect(entries.slice(0, 2)).toMatchObject([
    { action: 'credit.grant', actor: 'postgres' },
    {
      action: 'account.changed',
      actor: 'postgres',
      before: '{"status": "active"}',
      after: '{"status": "suspended"}',
    },
  ]);
  const all = await admin('audit-log', '--json');
  expect(all.out).toContain('"credit grant"');
});

test('sign-ins, failed sign-ins and approvals are logged', async () => {
  const operator = await startOperator(service, 'desk@example.com');
  await operator.browser.post('/waitlist', {
    email: 'wish@example.com',
    use_case: '',
    language: 'en',
  });
  const list = await operator.browser.get<{ data: { id: string }[] }>('/operator/waitlist');
  await operator.browser.post('/operator/waitlist/approve', {
    ids: [list.body.data[0]?.id],
    credit_minutes: 5,
    reason: '',
  });
  const asked = await operator.browser.post<{ challenge: string }>('/sign-in/code', {
    email: 'desk@example.com',
    language: 'en',
  });
  await operator.browser.post('/sign-in/verify', { ...asked.body, code: '00000000' });
  const { out } = await admin('audit-log', '--json');
  for (const action of ['waitlist.changed', 'credit.grant', 'sign_in.failed', 'operator.changed']) {
    expect(out).toContain(`"${action}"`);
  }
  expect(out).toContain('{\\"verified_by\\": \\"passkey\\"}');
});

test('no role can change or delete entries', async () => {
  for (const sql of [
    `update audit_log set actor_id = null`,
    'delete from audit_log',
    'truncate audit_log cascade',
  ]) {
    await expect(service.database.pool.query(sql), sql).rejects.toThrow('is not allowed');
  }
  for (const role of [
    'svc_api',
    'svc_console',
    'svc_operator',
    'svc_auditor',
    'svc_all',
  ] as const) {
    const insert = service.database
      .as(role)
      .query(`insert into audit_log (login, action) values ('x', 'forged')`);
    await expect(insert, role).rejects.toThrow('permission denied');
  }
});

test('the audit of the ledger finds a key or a grant without its entry', async () => {
  expect(await findViolations(service.database.pool)).toEqual([]);
  const client = await service.database.pool.connect();
  try {
    await client.query('begin');
    await client.query('alter table api_keys disable trigger api_keys_audit');
    await client.query(
      `insert into api_keys (id, account_id, hmac, live_number)
        select 'unloggedkey1', id, sha256('x'), 9 from accounts limit 1`,
    );
    expect(await findViolations(client)).toEqual([expect.stringContaining('changes-are-logged')]);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test('an erased account leaves no address and no network address in the log', async () => {
  const owner = await service.signedIn('erased@example.com');
  await owner.createKey();
  await owner.post('/erase', { confirm_email: 'erased@example.com' });
  const { rows } = await service.database.pool.query<{ found: number }>(
    `select count(*)::int as found from audit_sources s join audit_log l on l.id = s.audit_id
        join accounts a on a.id = l.account_id where a.name = 'erased' and l.action <> 'account.changed'`,
  );
  expect(rows).toEqual([{ found: 0 }]);
  const log = await service.database.pool.query<{ text: string }>(
    'select l::text as text from audit_log l',
  );
  expect(log.rows.map(({ text }) => text).join('\n')).not.toContain('@example.com');
});

test('a rare person is found a page of 50,000 entries at a time, and nothing is left out', async () => {
  const db = service.database.pool;
  await db.query(`insert into audit_log (login, action) values ('somebody_rare', 'command')`);
  await db.query(
    `insert into audit_log (login, action) select 'svc_often', 'command' from generate_series(1, $1)`,
    [AUDIT_SEARCH_MAX],
  );
  const search = { accountId: null, limit: 50, who: 'Body_rare' };
  const first = await listAuditLog(db, search);
  expect(first.entries).toEqual([]);
  const second = await listAuditLog(db, { ...search, before: first.next });
  expect(second).toMatchObject({ entries: [{ actor: 'somebody_rare' }], next: null });
});
