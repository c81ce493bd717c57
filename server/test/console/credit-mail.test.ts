import { randomUUID } from 'node:crypto';
import type { AsrSession } from '@svc-asr/protocol';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, expect, test } from 'vitest';
import { startCreditCheck } from '../../src/console/credit-check.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { startConsoleService, type TestBrowser } from '../support/console-service.ts';

const service = await startConsoleService();
afterAll(() => service.stop());
const db = service.database.pool;

/** Streams one second of audio, which uses one second of credit. */
async function streamSecond(browser: TestBrowser): Promise<void> {
  const limit = { model: KIKUYU, max_audio_seconds: 10 };
  const { body } = await browser.post<AsrSession>('/playground/session', limit);
  const client = await StreamClient.ready(body, { url: service.streamUrl });
  client.send(speech({ samples: 16_000 }));
  await client.close();
}

async function check(): Promise<void> {
  const task = startCreditCheck({ db: service.database.as('svc_console'), service: service.deps });
  await task.firstRun;
  await task.stop();
}

function mailsTo(email: string): string[] {
  const sent = service.mail.emails.filter(
    ({ to, subject }) => to === email && subject.includes('%'),
  );
  return sent.map(({ subject }) => subject);
}

/** Nothing is due any more, so that a missing email was not only late. */
async function untilSent(): Promise<void> {
  const due = 'select count(*) as due from credit_notices';
  await eventually(async () => (await db.query(due)).rows[0]?.due === 0);
}

test('owners get one email at 50, 20 and 5 % of the credit, and again after a grant', async () => {
  const email = 'saver@example.com';
  const owner = await service.signedIn(email);
  await service.joined(owner, { email: 'colleague@example.com', role: 'member' });
  const accountId = await service.accountOf(email);
  const ledger = createLedger(db);
  const post = { accountId, reason: 'test', actor: 'test' };
  const take = (seconds: number) =>
    ledger.adjust({ ...post, ms: -seconds * 1_000, id: randomUUID() });
  await ledger.adjust({ ...post, ms: -3_560_000, id: randomUUID() });
  await ledger.grant({ ...post, ms: 10_000, id: randomUUID() });
  // 50 s are left after the grant.
  await check();
  await take(24);
  await check();
  await untilSent();
  expect(mailsTo(email)).toEqual([]);

  await streamSecond(owner);
  await check();
  await check();
  await untilSent();
  expect(mailsTo(email)).toEqual(['50 % of your svc-asr credit is left']);
  const mail = service.mail.emails.find(({ subject }) => subject.startsWith('50 %'));
  expect(mail?.text).toContain('25 s');
  expect(mail?.text).toContain('https://console.example.org/app');

  // Two levels at once are one email.
  await take(23);
  await check();
  await untilSent();
  expect(mailsTo(email)).toHaveLength(2);
  expect(mailsTo(email)[1]).toBe('5 % of your svc-asr credit is left');
  await streamSecond(owner);
  await check();
  await untilSent();
  expect(mailsTo(email)).toHaveLength(2);

  await ledger.grant({ ...post, ms: 9_000, id: randomUUID() });
  await take(8);
  await check();
  await untilSent();
  expect(mailsTo(email)[2]).toBe('20 % of your svc-asr credit is left');
  expect(mailsTo('colleague@example.com')).toEqual([]);
});
