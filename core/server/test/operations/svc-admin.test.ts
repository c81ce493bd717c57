import { awayFromMidnight } from '@svc-asr/testing/away-from-midnight.ts';
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { reportPeppers } from '../../src/accounts/cell.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { findApiKey } from '../../src/accounts/keys/api-keys.ts';
import { joinWaitlist } from '../../src/accounts/waitlist.ts';
import type { Ask } from '../../src/admin/confirm.ts';
import { runAdmin } from '../../src/admin/program.ts';
import { parseApiKey } from '@svc-asr/runtime/api-key.ts';
import { hashApiKey } from '../../src/accounts/keys/format.ts';
import { openLedgerFixture, type LedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';

const PEPPER = randomBytes(32);
const NOBODY = '00000000-0000-4000-8000-000000000000';
let fixture: LedgerFixture;
beforeAll(async () => {
  fixture = await openLedgerFixture();
});
afterAll(() => fixture.drop());

interface Said {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function admin(...words: readonly string[]): Promise<Said> {
  return adminWith(
    { DATABASE_URL: fixture.database.url, API_KEY_PEPPER: PEPPER.toString('base64') },
    words,
  );
}

async function adminWith(
  env: Readonly<Record<string, string>>,
  words: readonly string[],
  ask?: Ask,
): Promise<Said> {
  let out = '';
  let err = '';
  const status = await runAdmin(words, {
    env,
    devFolder: '/nowhere',
    ask,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { status, out, err };
}

/** Runs a command with --json and returns its output. */
async function json<T>(...words: readonly string[]): Promise<T> {
  const said = await admin(...words, '--json');
  expect(said).toMatchObject({ status: 0, err: '' });
  return JSON.parse(said.out);
}

test('creates an account, grants credit and creates a key that the service accepts', async () => {
  const { id } = await json<{ id: string }>('accounts', 'create', '--name', 'Nairobi Radio');
  const grant = ['credit', 'grant', id, '2h', '--reason', 'invoice 14'];
  expect(await json('credit', 'grant', id, '2h', '--reason', 'invoice 14')).toMatchObject({
    amount_ms: 7_200_000,
    available_ms: 7_200_000,
    replayed: false,
  });
  expect((await admin(...grant)).out).toContain('14,400,000');

  const made = await json<{ key: string; key_id: string }>('keys', 'create', id, '--name', 'live');
  expect(parseApiKey(made.key)).toBe(made.key_id);
  const known = await findApiKey(fixture.database.as('svc_api'), made.key_id);
  expect(known).toMatchObject({ accountId: id, revoked: false, accountActive: true });
  expect(known?.hmac).toEqual(hashApiKey(made.key, PEPPER));

  const [newest] = await json<{ actor: string; reason: string }[]>('credit', 'history', id);
  expect(newest).toMatchObject({ actor: 'postgres', reason: 'invoice 14', kind: 'grant' });
});

test('K01 a key is shown once: no list shows it again, and revoking ends it', async () => {
  const id = await fixture.account(0);
  const { key, key_id: keyId } = await json<{ key: string; key_id: string }>('keys', 'create', id);
  const listed = await admin('keys', 'list', id);
  expect(listed.out).toContain(keyId);
  expect(listed.out).not.toContain(key);
  expect(await json('accounts', 'set-key-limit', id, '2')).toMatchObject({ key_limit: 2 });
  expect((await admin('keys', 'create', id)).status).toBe(0);
  const third = await admin('keys', 'create', id);
  expect(third).toMatchObject({ status: 1, out: '' });
  expect(third.err).toContain(`svc-admin accounts set-key-limit ${id} 4`);
  expect((await admin('keys', 'revoke', id, keyId)).status).toBe(0);
  expect(await findApiKey(fixture.owner, keyId)).toMatchObject({ revoked: true });
  expect((await admin('keys', 'revoke', id, 'nosuchkey000')).status).toBe(1);
});

test('a grant is idempotent by id; an adjustment never makes the balance negative', async () => {
  const id = await fixture.account(0);
  const grant = ['credit', 'grant', id, '90s', '--reason', 'first', '--id', randomUUID()];
  expect(await json(...grant)).toMatchObject({ replayed: false, available_ms: 90_000 });
  expect(await json(...grant)).toMatchObject({ replayed: true, available_ms: 90_000 });
  expect(await json('credit', 'adjust', id, '--take', '30s', '--reason', 'slip')).toMatchObject({
    amount_ms: -30_000,
    available_ms: 60_000,
  });
  const tooMuch = await admin('credit', 'adjust', id, '--take', '2h', '--reason', 'slip');
  expect(tooMuch.status).toBe(1);
  expect(tooMuch.err).toContain('60000 ms available');
  await fixture.expectInvariantsHold();
});

test('asks before it grants more than 1,000 hours', async () => {
  const id = await fixture.account(0);
  const grant = ['credit', 'grant', id, '100000h', '--reason', 'invoice 15'];
  const env = { DATABASE_URL: fixture.database.url };
  const alone = await adminWith(env, grant);
  expect(alone).toMatchObject({ status: 1, out: '' });
  expect(alone.err).toContain('adds 100,000 hours');
  expect(alone.err).toContain('--yes');
  expect(await adminWith(env, grant, async () => 'no')).toMatchObject({ status: 1, out: '' });
  expect(await json('accounts', 'show', id)).toMatchObject({ available_ms: 0 });
  expect(await adminWith(env, grant, async () => 'yes')).toMatchObject({ status: 0 });
  expect(await json(...grant, '--yes')).toMatchObject({ available_ms: 720_000_000_000 });
});

test('keys create refuses a pepper that the service does not have', async () => {
  const database = await createTestDatabase();
  const env = { DATABASE_URL: database.url, API_KEY_PEPPER: PEPPER.toString('base64') };
  const id = await createAccount(database.pool, { name: 'Radio' });
  expect(await adminWith(env, ['keys', 'create', id])).toMatchObject({ status: 0 });
  await reportPeppers(database.as('svc_api'), [{ id: 0, secret: randomBytes(32) }]);
  const refused = await adminWith(env, ['keys', 'create', id]);
  expect(refused).toMatchObject({ status: 2, out: '' });
  expect(refused.err).toContain('the service would refuse the key');
  await reportPeppers(database.as('svc_api'), [{ id: 0, secret: PEPPER }]);
  expect(await adminWith(env, ['keys', 'create', id])).toMatchObject({ status: 0 });
  await database.drop();
});

test('finds accounts by a part of their name, and by the first characters of their id', async () => {
  const { id } = await json<{ id: string }>('accounts', 'create', '--name', 'Kisumu Tours');
  expect(await json('accounts', 'search', 'kisumu')).toMatchObject([{ id }]);
  expect(await json('accounts', 'show', id.slice(0, 10))).toMatchObject({ id });
  expect(await json('accounts', 'rename', id, 'Kisumu Travel')).toMatchObject({
    name: 'Kisumu Travel',
  });
  const alike = `${id.slice(0, 35)}${id.endsWith('0') ? '1' : '0'}`;
  await createAccount(fixture.owner, { id: alike, name: 'Alike' });
  const both = await admin('accounts', 'show', id.slice(0, 35));
  expect(both).toMatchObject({ status: 1, out: '' });
  expect(both.err).toContain('Several accounts begin with');
  expect(await json('accounts', 'show', id)).toMatchObject({ id });
});

test('a suspension keeps its reason in the audit log', async () => {
  const id = await fixture.account(60_000);
  await json('accounts', 'suspend', id, '--reason', 'invoice 16 overdue');
  await json('accounts', 'resume', id);
  const entries = await json<{ action: string; after: string }[]>('audit-log', '--account', id);
  const changes = entries.filter(({ action }) => action === 'account.changed');
  expect(changes.map(({ after }) => JSON.parse(after))).toEqual([
    { status: 'active' },
    { status: 'suspended', reason: 'invoice 16 overdue' },
  ]);
});

test('sets the origins that may stream, and clears them', async () => {
  const id = await fixture.account(0);
  const origins = ['https://radio.example', 'https://www.radio.example'];
  expect(await json('accounts', 'set-origins', id, ...origins)).toMatchObject({
    allowed_origins: origins,
  });
  expect(await json('accounts', 'set-origins', id)).toMatchObject({ allowed_origins: null });
  const path = await admin('accounts', 'set-origins', id, 'https://radio.example/live');
  expect(path).toMatchObject({ status: 2, out: '' });
  expect(path.err).toContain('without a path');
});

test('erases an account after a question, but not while it has a session', async () => {
  const id = await fixture.account(60_000);
  const session = await fixture.reserve(id);
  expect((await admin('accounts', 'erase', id)).err).toContain('--yes');
  const busy = await admin('accounts', 'erase', id, '--yes');
  expect(busy).toMatchObject({ status: 1, out: '' });
  expect(busy.err).toContain('reserved or active');
  await fixture.claim(session);
  await fixture.close(session);
  expect(await json('accounts', 'erase', id, '--yes')).toMatchObject({
    name: 'erased',
    email: null,
    status: 'suspended',
  });
});

test('usage of a month agrees with the ledger, and its CSV has no formulas', async () => {
  await awayFromMidnight();
  const id = await createAccount(fixture.owner, { name: `=1+1, "Radio"` });
  await json('credit', 'grant', id, '1h', '--reason', 'first');
  for (const samples of [16_000 * 3, 16_000 * 4]) {
    const session = await fixture.reserve(id);
    await fixture.claim(session);
    await fixture.close(session, { status: 'completed', samples });
  }
  const month = new Date().toISOString().slice(0, 7);
  const [row] = await json<{ billable_ms: number }[]>('usage', '--account', id, '--month', month);
  expect(row).toMatchObject({ sessions: 2, model: 'svc-asr-kikuyu-v1', billable_ms: 7_000 });
  expect(await json('accounts', 'show', id)).toMatchObject({ consumed_ms: row?.billable_ms });
  const csv = (await admin('usage', '--account', id, '--month', month, '--csv')).out;
  expect(csv).toBe(
    'account_id,name,model,sessions,billable_ms\r\n' +
      `${id},"'=1+1, ""Radio""",svc-asr-kikuyu-v1,2,7000\r\n`,
  );
  expect(await json('usage', '--account', id, '--month', '2001-01')).toEqual([]);
});

test('sessions end leaves a reserved session alone', async () => {
  const session = await fixture.reserve(await fixture.account(60_000));
  const said = await admin('sessions', 'end', session.id.slice(0, 13));
  expect(said).toMatchObject({ status: 1, out: '' });
  expect(said.err).toContain('expires by itself');
  await fixture.claim(session);
  await fixture.close(session);
});

test('suspends and resumes accounts and changes their concurrency limit', async () => {
  const id = await fixture.account(60_000);
  await json('accounts', 'suspend', id);
  expect(await fixture.tryReserve(id)).toEqual({ outcome: 'account_inactive' });
  await json('accounts', 'resume', id);
  await json('accounts', 'set-concurrency', id, '3');
  expect(await json('accounts', 'show', id)).toMatchObject({ status: 'active', concurrency: 3 });
});

test('finds a session by its id with an index', async () => {
  const session = await fixture.reserve(await fixture.account(60_000));
  expect(await json('sessions', 'show', session.id)).toMatchObject({
    id: session.id,
    account_id: session.accountId,
    status: 'reserved',
  });
  expect(await json('sessions', 'list', '--account', session.accountId)).toHaveLength(1);
  expect((await admin('sessions', 'list')).out).toContain(session.id);
  expect((await admin('sessions', 'show', NOBODY)).status).toBe(1);

  const client = await fixture.owner.connect();
  try {
    await client.query('begin; set local enable_seqscan = off');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain select from txn t join sessions s on s.account_id = t.account_id and s.id = t.session_id
        where t.session_id = '${session.id}' and t.kind = 'reserve'`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('txn_session');
    expect(plan).not.toContain('Seq Scan');
    await client.query('rollback');
  } finally {
    client.release();
  }
});

test('shows why a session failed and which client opened it, and lists failed sessions', async () => {
  const session = await fixture.reserve(await fixture.account(60_000));
  await fixture.claim(session);
  await fixture.close(session, { status: 'failed', samples: 0 });
  expect(await json('sessions', 'show', session.id)).toMatchObject({ cause: 'node_lost' });
  await fixture.owner.query(
    `insert into session_details (account_id, session_id, request_id, client, ended_ms, finals, close_code,
      close_reason, gaps, longest_gap_ms, hints)
      values ($1, $2, $3, 'svc-asr-python/0.1.0', 900, 0, 1011, 'engine_failed', 0, 0, '{}')`,
    [session.accountId, session.id, randomUUID()],
  );
  const why = { close_code: 1011, cause: 'engine_failed' };
  expect(await json('sessions', 'show', session.id)).toMatchObject({
    ...why,
    close_reason: 'engine_failed',
    client: 'svc-asr-python/0.1.0',
  });
  const healthy = await fixture.reserve(await fixture.account(60_000));
  await fixture.claim(healthy);
  await fixture.close(healthy, { status: 'completed', samples: 16_000 });
  expect(await json('sessions', 'list', '--failed', '--account', session.accountId)).toMatchObject([
    { id: session.id, ...why },
  ]);
  expect(await json('sessions', 'list', '--failed', '--account', healthy.accountId)).toEqual([]);
  expect((await admin('sessions', 'list', '--failed')).out).toContain(session.id);
});

test('K02 approves a person on the waitlist once, with their first credit', async () => {
  const email = `wanjiku-${randomUUID()}@example.com`;
  await joinWaitlist(fixture.owner, { email, name: 'Wanjiku', purpose: 'radio archive' });
  const waiting = await json<{ id: string; email: string }[]>('waitlist', 'list');
  const entry = waiting.find((candidate) => candidate.email === email);
  const approve = ['waitlist', 'approve', entry?.id ?? '', '--grant', '1h'];
  const first = await json<{ account_id: string }>(...approve);
  expect(await json(...approve)).toEqual(first);
  expect(await json('accounts', 'show', first.account_id)).toMatchObject({
    name: 'Wanjiku',
    available_ms: 3_600_000,
  });
  expect((await admin('waitlist', 'approve', NOBODY)).status).toBe(1);
});

test('declines a request on the waitlist with a reason, and erases requests that have no account', async () => {
  const email = `otieno-${randomUUID()}@example.com`;
  await joinWaitlist(fixture.owner, { email, name: 'Otieno', purpose: 'advertising' });
  const entryOf = async (status: string) => {
    const list = await json<{ id: string; email: string }[]>(
      'waitlist',
      'list',
      '--status',
      status,
    );
    return list.find((entry) => entry.email === email)?.id;
  };
  const id = (await entryOf('waiting')) ?? '';
  expect((await admin('waitlist', 'erase', id)).err).toContain('--yes');
  await json('waitlist', 'decline', id, '--reason', 'no such company');
  expect(await admin('waitlist', 'decline', id)).toMatchObject({ status: 1, out: '' });
  expect((await admin('waitlist', 'approve', id)).err).toContain('or it was declined');
  expect(await entryOf('declined')).toBe(id);
  const log = await json<{ action: string; target: string; after: string }[]>('audit-log');
  const change = log.find(({ action, target }) => action === 'waitlist.changed' && target === id);
  expect(JSON.parse(change?.after ?? '')).toEqual({
    status: 'declined',
    reason: 'no such company',
  });
  await json('waitlist', 'erase', id, '--yes');
  expect(await entryOf('declined')).toBeUndefined();
  expect((await admin('audit-log')).out).toContain('waitlist.erased');
  expect((await admin('waitlist', 'erase', id, '--yes')).status).toBe(1);

  const approved = `achieng-${randomUUID()}@example.com`;
  await joinWaitlist(fixture.owner, { email: approved, name: 'Achieng', purpose: 'radio' });
  const waiting = await json<{ id: string; email: string }[]>('waitlist', 'list');
  const kept = waiting.find((entry) => entry.email === approved)?.id ?? '';
  await json('waitlist', 'approve', kept);
  expect((await admin('waitlist', 'erase', kept, '--yes')).err).toContain('accounts erase');
});

/** An owner of a new account asks for an hour and a half. */
async function askForCredit(): Promise<{ id: string; account: string }> {
  const email = `owner-${randomUUID()}@example.com`;
  await joinWaitlist(fixture.owner, { email, name: 'Radio', purpose: 'radio' });
  const waiting = await json<{ id: string; email: string }[]>('waitlist', 'list');
  const entry = waiting.find((candidate) => candidate.email === email)?.id ?? '';
  const { account_id: account } = await json<{ account_id: string }>('waitlist', 'approve', entry);
  const id = randomUUID();
  await fixture.owner.query(
    `select request_credit($1, $2, (select user_id from memberships where account_id = $2), 5400000, 'pilot')`,
    [id, account],
  );
  return { id, account };
}
function requests(...words: readonly string[]): Promise<Said> {
  return admin('credit', 'requests', ...words);
}

describe('a request for credit', () => {
  test('is listed, granted once with another amount, and answered by email and in the audit log', async () => {
    const { id, account } = await askForCredit();
    const listed = await json<{ id: string }[]>('credit', 'requests', 'list');
    expect(listed.find((request) => request.id === id)).toMatchObject({
      account_id: account,
      requested_ms: 5_400_000,
      message: 'pilot',
      available_ms: 0,
    });
    const grant = ['grant', id, '30m', '--reply', 'half an hour first'];
    expect(await json('credit', 'requests', ...grant)).toMatchObject({
      status: 'granted',
      granted_ms: 1_800_000,
      available_ms: 1_800_000,
    });
    const again = await requests(...grant);
    expect(again).toMatchObject({ status: 1, out: '' });
    expect(again.err).toContain('No request');
    const [transaction] = await json<object[]>('credit', 'history', account);
    expect(transaction).toMatchObject({ actor: 'postgres', reason: 'half an hour first' });
    const entries = await json<{ action: string; after: string }[]>(
      'audit-log',
      '--account',
      account,
    );
    const granted = entries.find(({ action }) => action === 'credit_request.granted');
    expect(JSON.parse(granted?.after ?? '')).toEqual({ reason: 'half an hour first' });
    const emails = 'select kind from credit_request_notices where request_id = $1';
    expect((await fixture.owner.query(emails, [id])).rows).toEqual([{ kind: 'granted' }]);
    await fixture.expectInvariantsHold();
  });

  test('is declined without a change of the balance, and with a reply only', async () => {
    const { id, account } = await askForCredit();
    expect(await requests('decline', id)).toMatchObject({ status: 2, out: '' });
    const large = await requests('grant', id, '2000h', '--reply', 'all of it');
    expect(large.err).toContain('adds 2,000 hours');
    await json('credit', 'requests', 'decline', id, '--reply', 'please pay invoice 14 first');
    expect(await json('accounts', 'show', account)).toMatchObject({ available_ms: 0 });
    const declined = await json<{ id: string }[]>(
      'credit',
      'requests',
      'list',
      '--status',
      'declined',
    );
    expect(declined[0]).toMatchObject({ id, reply: 'please pay invoice 14 first' });
    expect((await requests('decline', NOBODY, '--reply', 'no')).status).toBe(1);
  });
});

test('nodes and the audit are shown as tables and as JSON', async () => {
  expect((await admin('nodes')).out).toContain('node-1');
  expect((await admin('nodes', 'list')).out).toContain('node-1');
  const audit = await admin('audit', '--safety');
  expect(audit).toMatchObject({ status: 0 });
  expect(audit.err).toContain('Every invariant holds.');
  expect(await json('audit', '--safety')).toHaveLength(15);
});

test('the audit writes its result as metrics', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-audit-'));
  const file = join(folder, 'audit.prom');
  try {
    await admin('audit', '--safety', '--metrics-file', file);
    const text = await readFile(file, 'utf8');
    expect(text.match(/^svc_ledger_audit_violations\{invariant="[^"]+"\} 0$/gm)).toHaveLength(15);
    expect(text).toMatch(/^svc_ledger_audit_timestamp_seconds \d/m);
    expect(await readdir(folder)).toEqual(['audit.prom']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the audit exits with 1 and names the account of a violation', async () => {
  const other = await openLedgerFixture();
  try {
    const id = await other.account(5_000);
    await other.owner.query('alter table accounts disable trigger user');
    await other.owner.query(
      'update accounts set available_ms = available_ms + 1, granted_ms = granted_ms + 1 where id = $1',
      [id],
    );
    const said = await adminWith({ DATABASE_URL: other.database.url }, ['audit']);
    expect(said.status).toBe(1);
    expect(said.err).toContain('balances-equal-entries');
    expect(said.err).toContain(id);
  } finally {
    await other.drop();
  }
});

test('the audit needs no more than the rights of an auditor', async () => {
  const user = `auditor_${randomUUID().replaceAll('-', '')}`;
  await fixture.owner.query(
    `create role ${user} login password '${user}'; grant svc_auditor to ${user}`,
  );
  const url = new URL(fixture.database.url);
  url.username = user;
  url.password = user;
  try {
    expect(await adminWith({ DATABASE_URL: url.href }, ['audit'])).toMatchObject({ status: 0 });
    expect(await adminWith({ DATABASE_URL: url.href }, ['accounts', 'list'])).toMatchObject({
      status: 1,
      err: expect.stringContaining('grant svc_operator'),
    });
  } finally {
    await fixture.owner.query(`drop role ${user}`);
  }
});

describe('a mistake', () => {
  test.for([
    { words: ['credit', 'grant', NOBODY, '60', '--reason', 'x'], status: 2, says: '90s, 30m, 2h' },
    { words: ['credit', 'grant', NOBODY, '1h'], status: 2, says: '--reason' },
    { words: ['credit', 'set', NOBODY, '1h'], status: 2, says: 'unknown command' },
    {
      words: ['credit', 'adjust', NOBODY, '--reason', 'x'],
      status: 2,
      says: 'either --add or --take',
    },
    { words: ['accounts', 'show', 'nairobi'], status: 2, says: 'must be a UUID' },
    { words: ['accounts', 'show', '7f0'], status: 2, says: 'at least four' },
    { words: ['accounts', 'show', '7f0c-9a52'], status: 2, says: 'must be a UUID' },
    { words: ['sessions', 'show', NOBODY], status: 1, says: 'There is no session' },
    { words: ['usage', '--month', '2027-13'], status: 2, says: 'such as 2027-01' },
    { words: ['accounts', 'show', NOBODY], status: 1, says: 'There is no account' },
    { words: ['accounts', 'suspend', NOBODY], status: 1, says: 'There is no account' },
    { words: ['accounts', 'set-concurrency', NOBODY, '0'], status: 2, says: 'from 1 to 10000' },
    {
      words: ['credit', 'grant', NOBODY, '1h', '--reason', 'x'],
      status: 1,
      says: 'There is no account',
    },
    { words: ['keys', 'create', NOBODY, '--models', 'latin'], status: 2, says: 'Choose from' },
    { words: ['keys', 'create', NOBODY], status: 1, says: 'There is no account' },
    { words: ['credit', 'grant', NOBODY, '1h', '--reason', ''], status: 2, says: '1 to 500' },
    { words: ['credit', 'history', NOBODY], status: 1, says: 'There is no account' },
    { words: ['accounts', 'create', '--name', ' '], status: 2, says: '1 to 200' },
    { words: ['accounts', 'create', '--name', 'a', '--email', 'b'], status: 2, says: 'an address' },
    {
      words: ['keys', 'create', NOBODY, '--expires', '2020-01-01'],
      status: 2,
      says: 'in the past',
    },
    { words: ['keys', 'create', NOBODY, '--expires', '2999-02-31'], status: 2, says: 'a date' },
    {
      words: ['operators', 'add', 'nobody@example.com'],
      status: 1,
      says: 'Approve their request first (svc-admin waitlist approve)',
    },
  ])('$words: exit $status', async ({ words, status, says }) => {
    const said = await admin(...words);
    expect(said).toMatchObject({ status, out: '' });
    expect(said.err).toContain(says);
  });

  test('explains missing settings, a missing pepper and an unreachable database', async () => {
    const none = await adminWith({}, ['accounts', 'list']);
    expect(none.status).toBe(2);
    expect(none.err).toContain('Set DATABASE_URL');
    const id = await fixture.account(0);
    const plain = await adminWith({ DATABASE_URL: fixture.database.url }, ['keys', 'create', id]);
    expect(plain.status).toBe(2);
    expect(plain.err).toContain('API_KEY_PEPPER');
    const short = { DATABASE_URL: fixture.database.url, API_KEY_PEPPER: 'c2hvcnQ=' };
    expect(await adminWith(short, ['keys', 'create', id])).toMatchObject({ status: 2 });
    expect(await adminWith({ DATABASE_URL: 'svc' }, ['audit'])).toMatchObject({ status: 2 });
    const unreachable = { DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/nothing' };
    expect(await adminWith(unreachable, ['accounts', 'list'])).toMatchObject({ status: 3 });
  });
});

test('the help of every command has an example', async () => {
  const commands = [
    'accounts',
    'credit',
    'keys',
    'sessions',
    'nodes',
    'waitlist',
    'operators',
    'audit',
    'migrate',
  ];
  const inner = [
    'accounts create|accounts show|accounts list|accounts suspend|accounts resume|accounts set-concurrency',
    'accounts search|accounts rename|accounts set-origins|accounts erase|usage|nodes list',
    'credit grant|credit adjust|credit history|keys create|keys list|keys revoke|sessions list|sessions show|sessions end',
    'waitlist list|waitlist approve|waitlist decline|waitlist erase|credit requests|credit requests list',
    'credit requests grant|credit requests decline|operators add|operators remove',
  ].flatMap((names) => names.split('|'));
  for (const command of ['', ...commands, ...inner]) {
    const said = await admin(...command.split(' ').filter(Boolean), '--help');
    expect(said.status, command).toBe(0);
    expect(said.out, command).toMatch(/Examples:\n {2}\$ svc-admin /);
  }
});

test('DATABASE_URL and the pepper can be read from files, as in the service', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'secrets-'));
  const [url, pepper] = [join(folder, 'url'), join(folder, 'pepper')];
  await writeFile(url, `${fixture.database.url}\n`);
  await writeFile(pepper, PEPPER.toString('base64'));
  const id = await fixture.account(0);
  const files = { DATABASE_URL_FILE: url, API_KEY_PEPPER_FILE: pepper };
  expect(await adminWith(files, ['keys', 'create', id])).toMatchObject({ status: 0 });
  await rm(folder, { recursive: true });
  const missing = await adminWith(files, ['accounts', 'list']);
  expect(missing).toMatchObject({ status: 2, err: `DATABASE_URL_FILE cannot be read: ${url}\n` });
});

test('a command loads neither the engine nor the schemas, so that it starts quickly', async () => {
  const main = join(import.meta.dirname, '../../src/admin/main.ts');
  const { stderr } = await promisify(execFile)(process.execPath, [main, '--help'], {
    env: { ...process.env, NODE_DEBUG: 'esm' },
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(stderr).toContain('commander');
  expect(stderr).not.toMatch(/node_modules\/(?:typebox|sherpa|onnxruntime|@grpc)/);
});

test('`npm run admin` and `npm run audit` reach it', async () => {
  const main = join(import.meta.dirname, '../../src/admin/main.ts');
  const env = { ...process.env, DATABASE_URL: fixture.database.url };
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'audit', '--json'], {
    env,
  });
  expect(JSON.parse(stdout)).toHaveLength(16);
});
