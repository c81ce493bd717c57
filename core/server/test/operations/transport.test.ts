import { expect, test } from 'vitest';
import { generateSecrets, parseConfig } from '../../src/config.ts';
import { runAdmin } from '../../src/admin/program.ts';
import { createSmtpMailer } from '../../src/console/email/mailer.ts';
import { startMailServer } from '../support/mail-server.ts';
import { startService } from '@svc-asr/testing/service/service.ts';

const ENV = {
  ...generateSecrets(),
  PUBLIC_STREAM_URL: 'wss://node-1.example.com',
  DATABASE_URL: 'postgres://svc@127.0.0.1/svc',
};

test('a service refuses to start with an unencrypted connection to a remote database', () => {
  for (const name of ['DATABASE_URL', 'CONSOLE_DATABASE_URL', 'SWEEPER_DATABASE_URL']) {
    const url = 'postgres://svc@db.example.com/svc';
    expect(() => parseConfig({ ...ENV, [name]: url })).toThrow(`${name} must use TLS`);
    expect(() => parseConfig({ ...ENV, [name]: `${url}?sslmode=verify-full` })).not.toThrow();
  }
});

test('svc-admin refuses an unencrypted connection to a remote database', async () => {
  let said = '';
  const write = (text: string) => void (said += text);
  const env = { DATABASE_URL: 'postgres://desk@db.example.com/svc' };
  const terminal = { env, devFolder: '/nowhere', out: write, err: write };
  expect(await runAdmin(['accounts', 'list'], terminal)).toBe(2);
  expect(said).toContain('sslmode=verify-full');
});

test('mail to another machine is sent only over TLS', async () => {
  const mail = await startMailServer();
  const { port } = new URL(mail.url);
  const email = { to: 'a@example.com', subject: 'x', text: 'x' };
  // 0.0.0.0 reaches this machine but is not a loopback address.
  const remote = createSmtpMailer({ url: `smtp://0.0.0.0:${port}`, from: 'x@example.com' });
  const local = createSmtpMailer({ url: mail.url, from: 'x@example.com' });
  try {
    await expect(remote.send(email)).rejects.toThrow('ETLS');
    expect(mail.emails).toEqual([]);
    await local.send(email);
    expect(mail.emails).toHaveLength(1);
  } finally {
    remote.close();
    local.close();
    await mail.stop();
  }
});

test('security.txt names the contact, and is absent without one', async () => {
  const contact = 'mailto:security@example.com';
  const service = await startService({ env: { SECURITY_CONTACT: contact } });
  const bare = await startService({ database: service.database });
  const answer = await fetch(`${service.url}/.well-known/security.txt`);
  expect(answer.headers.get('content-type')).toContain('text/plain');
  const text = await answer.text();
  expect(text).toContain(`Contact: ${contact}\n`);
  const expires = new Date(/^Expires: (.*)$/m.exec(text)?.[1] ?? '');
  expect(expires.getTime()).toBeGreaterThan(Date.now());
  expect((await fetch(`${bare.url}/.well-known/security.txt`)).status).toBe(404);
  expect(() => parseConfig({ ...ENV, SECURITY_CONTACT: 'nobody' })).toThrow('SECURITY_CONTACT');
  await bare.stop();
  await service.stop();
});
