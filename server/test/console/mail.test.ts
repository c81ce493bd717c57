import { expect, test } from 'vitest';
import { generateSecrets, parseConfig } from '../../src/config.ts';
import { joinWaitlist, approveWaitlist, findWaitlistEntry } from '../../src/accounts/waitlist.ts';
import { startConsoleService, TestBrowser } from '../support/console-service.ts';
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

test('without a mail server the form reports it at once', async () => {
  const service = await startService({ env: { PUBLIC_URL: 'https://console.example.org' } });
  const body = { email: 'a@example.com', language: 'en' };
  const answer = await new TestBrowser(service.url).post('/sign-in/code', body);
  expect(answer.status).toBe(503);
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
  expect(parseConfig(env).devMailbox).toBe(true);
  expect(() => parseConfig({ ...env, HOST: '0.0.0.0' })).toThrow('CONSOLE_DEV_MAILBOX');
  expect(() => parseConfig({ ...env, NODE_ENV: 'production' })).toThrow('CONSOLE_DEV_MAILBOX');
});
