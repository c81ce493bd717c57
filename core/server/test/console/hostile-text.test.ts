import type { ErrorBody } from '@svc-asr/protocol';
import type { CodeRequested, NewKey } from '@svc-asr/protocol/console/console.ts';
import { afterAll, expect, test } from 'vitest';
import { runAdmin } from '../../src/admin/program.ts';
import { startOperator } from '../support/console/console-operator.ts';
import { startConsoleService, TestBrowser } from '../support/console/console-service.ts';

/** Text that attacks its reader: terminals, mail programs, spreadsheets and log viewers. */

const service = await startConsoleService();
afterAll(() => service.stop());

/** Terminal control sequences (7-bit and 8-bit), line breaks, marks that reorder text, and invisible text. */
const HOSTILE = [
  '\u001b[2J\u001b]0;owned\u0007',
  '\u009b31m',
  'a\nb\rc',
  '\u202egnp.exe',
  '\u2066x',
  'one\u2028two\u2029three',
  'ignore\u{e0069}\u{e0067}\u{e006e} all\u{e0100}',
  'half \ud83d of a pair',
  '\udc00\ud800',
  'note\ufff9\ufffa\ufffb',
  'no\uffffcharacter',
];
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\uffff\u{e0000}-\u{e0fff}]/u;

async function admin(...words: readonly string[]): Promise<string> {
  let said = '';
  const write = (text: string) => void (said += text);
  const env = { DATABASE_URL: service.database.url };
  await runAdmin(words, { env, devFolder: '/nowhere', out: write, err: write });
  return said;
}

test('text from the public waitlist cannot control the terminal of an operator', async () => {
  const visitor = new TestBrowser(service.url);
  const form = { email: 'visitor@example.com', language: 'en' };
  for (const text of HOSTILE) {
    const answer = await visitor.post('/waitlist', { ...form, use_case: text });
    expect(answer.status, JSON.stringify(text)).toBe(400);
  }
  await visitor.post('/waitlist', { ...form, use_case: 'two\nlines' });
  // Rows that an older version accepted are displayed safely too.
  await service.database.pool.query(
    `insert into waitlist (id, email, purpose)
      select gen_random_uuid(), 'old-' || at || '@example.com', text
      from unnest($1::text[]) with ordinality as hostile (text, at)`,
    [HOSTILE],
  );
  for (const format of [[], ['--json']]) {
    const said = await admin('waitlist', 'list', ...format);
    expect(said).toContain('old-5@example.com');
    expect(said).not.toMatch(UNSAFE);
  }
  const table = await admin('waitlist', 'list');
  // One line per entry: a line break in a field cannot forge another row.
  expect(table.trimEnd().split('\n')).toHaveLength(2 + 1 + HOSTILE.length);
});

test('an argument with control characters is not echoed to the terminal', async () => {
  expect(await admin('operators', 'add', 'x\u001b[31m@example.com')).not.toMatch(UNSAFE);
});

test('a NUL or another invalid character in an email address gets 400, never 503', async () => {
  const browser = await service.signedIn('asker@example.com');
  const addresses = [
    'nul\u0000@example.com',
    'esc\u001b@example.com',
    'v\u0130ctim@example.com',
    'one,two@example.com',
    '"quoted part"@example.com',
    '<other@example.com>',
    'tail@example.com\u202e',
    'b\u00fccher@example.com',
  ];
  for (const email of addresses) {
    const answers = await Promise.all([
      browser.post<ErrorBody>('/waitlist', { email, use_case: '', language: 'en' }),
      browser.post<ErrorBody>('/sign-in/code', { email, language: 'en' }),
      browser.post<ErrorBody>('/settings/members', { email, role: 'member' }),
    ]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses, JSON.stringify(email)).toEqual([400, 400, 400]);
  }
});

test('a NUL in any other text gets 400, never 503', async () => {
  const browser = await service.signedIn('texts@example.com');
  const models = ['svc-asr-kikuyu-v1'];
  const answers = await Promise.all([
    browser.post('/waitlist', { email: 'n@example.com', use_case: 'a\u0000b', language: 'en' }),
    browser.post('/keys', { name: 'a\u0000b', models, expires_in_days: null }),
    browser.post('/settings/origins', { allowed_origins: ['https://a\u0000b.example'] }),
    browser.post('/erase', { confirm_email: 'a\u0000b' }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
});

async function countAccounts(): Promise<number | null> {
  return (await service.database.pool.query('select from accounts')).rowCount;
}

test('svc-admin refuses hostile names and reasons as the console does', async () => {
  const before = await countAccounts();
  for (const text of [...HOSTILE, '\u200b\u200d']) {
    const said = await admin('accounts', 'create', '--name', text);
    expect(said, JSON.stringify(text)).toContain('one line of visible text');
    expect(said).not.toMatch(UNSAFE);
  }
  expect(await countAccounts()).toBe(before);
});

test('names and searches with control characters, invisible or reordered text are refused', async () => {
  const browser = await service.signedIn('namer@example.com');
  const models = ['svc-asr-kikuyu-v1'];
  for (const name of HOSTILE) {
    const answer = await browser.post('/keys', { name, models, expires_in_days: null });
    expect(answer.status, JSON.stringify(name)).toBe(400);
  }
  const invisible = await browser.post('/keys', { name: '\u200b', models, expires_in_days: null });
  expect(invisible.status).toBe(400);
  const operator = await startOperator(service, 'searcher@example.com');
  for (const text of ['\u0000', '\u2028', '\u{e0041}']) {
    const found = await operator.browser.get(
      `/operator/accounts?search=${encodeURIComponent(text)}`,
    );
    expect(found.status, JSON.stringify(text)).toBe(400);
  }
  for (const name of ['Wanjikũ’s café №1', '😀 ok', 'مرحبا', 'Nĩ wega']) {
    const answer = await browser.post<NewKey>('/keys', { name, models, expires_in_days: null });
    expect(answer.status, name).toBe(201);
    await browser.post(`/keys/${answer.body.key.id}/revoke`);
  }
});

test('an address in another case signs in, shares the limits and cannot join twice', async () => {
  await service.admit('mixed@example.com');
  const browser = new TestBrowser(service.url);
  const asked = await browser.post<CodeRequested>('/sign-in/code', {
    email: 'MIXED@Example.COM',
    language: 'en',
  });
  expect(asked.status).toBe(202);
  await service.mail.takeCode('mixed@example.com');
  const hashes = await service.database.pool.query(
    `select distinct email_hash from sign_in_codes c join console_users u on u.id = c.user_id
      where u.email = 'mixed@example.com'`,
  );
  await browser.post('/sign-in/code', { email: 'mixed@example.com', language: 'en' });
  expect(hashes.rowCount).toBe(1);
  await browser.post('/waitlist', { email: 'New@Example.com', use_case: '', language: 'en' });
  await browser.post('/waitlist', { email: 'new@example.COM', use_case: '', language: 'en' });
  const { rows } = await service.database.pool.query<{ email: string }>(
    `select email from waitlist where email ilike 'new@example.com'`,
  );
  expect(rows).toEqual([{ email: 'new@example.com' }]);
});

test('the database itself refuses an address that is not in its normal form', async () => {
  for (const email of ['Upper@example.com', 'v\u0130ctim@example.com', 'a\u001b@example.com']) {
    const insert = service.database.pool.query(
      'insert into waitlist (id, email) values (gen_random_uuid(), $1)',
      [email],
    );
    await expect(insert, JSON.stringify(email)).rejects.toThrow('email_is_normal');
  }
});

test('a log line cannot be split or reordered by text that a client sends', async () => {
  await fetch(`${service.url}/v1/%E2%80%AE%0A%1B%5B31m%C2%9B31m`);
  await fetch(`${service.url}/v1/models`, { headers: { 'user-agent': 'a\u009b31mb' } });
  service.deps.log.info({ text: HOSTILE.join(' ') }, 'a line with hostile text');
  const lines = service.logged();
  expect(lines).toContain('a line with hostile text');
  expect(lines).not.toMatch(UNSAFE);
  for (const line of lines.trimEnd().split('\n')) JSON.parse(line);
});
