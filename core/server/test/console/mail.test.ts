import type { ErrorBody } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import { generateSecrets, parseConfig } from '../../src/config.ts';
import { runAdmin } from '../../src/admin/program.ts';
import { joinWaitlist, approveWaitlist, findWaitlistEntry } from '../../src/accounts/waitlist.ts';
import { startConsoleService, TestBrowser } from '../support/console/console-service.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { startMailServer } from '../support/mail-server.ts';
import { startService } from '@svc-asr/testing/service/service.ts';

test('an email that the mail server refused stays queued and is sent by the next process', async () => {
  const database = await createTestDatabase();
  const broken = await startMailServer({ refuse: true });
  const email = 'patient@example.com';
  const first = await startService({ database, env: { SMTP_URL: broken.url } });
  await joinWaitlist(database.pool, { email, name: '', purpose: '' });
  const entry = await findWaitlistEntry(database.pool, email);
  await approveWaitlist(database.pool, { id: entry?.id ?? '', actor: 'test' });
  await eventually(() => first.logged().includes('An email was not sent'));
  await first.stop();
  await broken.stop();
  expect(first.logged()).not.toContain(email);

  await database.pool.query('update console_users set welcome_after = clock_timestamp()');
  const second = await startConsoleService({ database });
  expect((await second.mail.take(email)).subject).toBe('You have access to svc-asr');
  await eventually(async () => {
    const { rows } = await database.pool.query(
      'select from console_users where welcomed_at is null',
    );
    return rows.length === 0;
  });
  await second.stop();
  await database.drop();
});

test('without a mail server the log, /readyz, the sign-in page and the form say so', async () => {
  const service = await startService({ env: { PUBLIC_URL: 'https://console.example.org' } });
  const browser = new TestBrowser(service.url);
  expect((await browser.get('/sign-in/methods')).body).toEqual({
    email: false,
    origin: 'https://console.example.org',
  });
  const body = { email: 'a@example.com', language: 'en' };
  const answer = await browser.post<ErrorBody>('/sign-in/code', body);
  expect([answer.status, answer.body.error.code]).toEqual([503, 'email_not_configured']);
  expect(answer.body.error.message).toContain('SMTP_URL');
  const ready = await fetch(`${service.url}/readyz`);
  expect(await ready.json()).toEqual({
    status: 'ready',
    warnings: ['SMTP_URL is not set: nobody can sign in to the console with an email code.'],
  });
  expect(service.logged()).toContain('Set SMTP_URL and MAIL_FROM');
  await service.stop();
});

test('without a mail server an operator signs in with a code of svc-admin, once', async () => {
  const service = await startService({ env: { PUBLIC_URL: 'https://console.example.org' } });
  const email = 'operator@example.com';
  const db = service.database.pool;
  await joinWaitlist(db, { email, name: 'Amina', purpose: 'operates it' });
  const settings = {
    DATABASE_URL: service.database.url,
    API_KEY_PEPPER: service.config.secrets.apiKeyPeppers[0].secret.toString('base64'),
  };
  const admin = async (...words: string[]) => {
    let out = '';
    let err = '';
    const status = await runAdmin([...words, '--json'], {
      env: settings,
      devFolder: '/nowhere',
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    });
    return { status, err, row: status === 0 ? JSON.parse(out) : null };
  };
  const { rows } = await db.query<{ id: string }>('select id from waitlist');
  await admin('waitlist', 'approve', rows[0]?.id ?? '', '--grant', '1h');
  const tooEarly = await admin('operators', 'sign-in-code', email);
  expect(tooEarly).toMatchObject({ status: 1, row: null });
  expect(tooEarly.err).toContain('is not an operator');

  await admin('operators', 'add', email);
  const { row } = await admin('operators', 'sign-in-code', email);
  const challenge = String(row.page).split('=')[1] ?? '';
  const browser = new TestBrowser(service.url);
  const guess = { challenge, code: row.code === '00000000' ? '00000001' : '00000000' };
  const wrong = await browser.post<ErrorBody>('/sign-in/verify', guess);
  expect(wrong.body.error.code).toBe('wrong_code');
  const right = { challenge, code: row.code };
  expect((await browser.post('/sign-in/verify', right)).status).toBe(200);
  expect((await browser.get('/me')).body).toMatchObject({ email });
  // The rights of an operator still need a passkey.
  expect((await browser.get('/operator/waitlist')).status).toBe(403);
  const again = await new TestBrowser(service.url).post<ErrorBody>('/sign-in/verify', right);
  expect(again.body.error.code).toBe('wrong_code');
  for (let more = 0; more < 4; more += 1) await admin('operators', 'sign-in-code', email);
  expect((await admin('operators', 'sign-in-code', email)).err).toContain('Five codes');
  await service.stop();
});

test('with a mail server /readyz has no warning, and the sign-in page offers codes', async () => {
  const service = await startConsoleService();
  expect((await new TestBrowser(service.url).get('/sign-in/methods')).body).toEqual({
    email: true,
    origin: 'https://console.example.org',
  });
  const ready = await fetch(`${service.url}/readyz`);
  expect(await ready.json()).toEqual({ status: 'ready' });
  await service.stop();
});

test('shows emails in a browser only where a developer asks for it, on their own machine', async () => {
  const service = await startConsoleService();
  const mailbox = await fetch(`${service.url}/console-api/dev/mailbox`);
  expect(mailbox.status).toBe(404);
  await service.stop();
  const env = {
    ...generateSecrets(),
    DATABASE_URL: 'postgres://localhost/x',
    PUBLIC_STREAM_URL: 'wss://localhost',
    CONSOLE_DEV_MAILBOX: '1',
  };
  expect(parseConfig(env).console.devMailbox).toBe(true);
  expect(() => parseConfig({ ...env, HOST: '0.0.0.0' })).toThrow('CONSOLE_DEV_MAILBOX');
  expect(() => parseConfig({ ...env, NODE_ENV: 'production' })).toThrow('CONSOLE_DEV_MAILBOX');
});
