import { randomUUID } from 'node:crypto';
import type { AsrSession } from '@svc-asr/protocol';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, expect, test } from 'vitest';
import { startCreditCheck } from '../../src/console/email/credit-check.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { startConsoleService, type TestBrowser } from '../support/console/console-service.ts';

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

/** The subjects of the emails about levels so far. */
function mailsTo(email: string): string[] {
  const sent = service.mail.emails.filter(
    ({ to, subject }) => to === email && /%|used up/.test(subject),
  );
  return sent.map(({ subject }) => subject);
}

/** Checks the credit and sends what is due, so that a missing email is not only late. */
async function mailsAfterCheck(email: string): Promise<string[]> {
  await check();
  const due = 'select count(*) as due from credit_notices';
  await eventually(async () => (await db.query(due)).rows[0]?.due === 0);
  return mailsTo(email);
}

function subject(percent: number): string {
  return percent === 0
    ? 'Your svc-asr credit is used up'
    : `${percent} % of your svc-asr credit is left`;
}

test('owners get one email at 50, 20, 5 and 0 % of the credit, and again after a grant', async () => {
  const email = 'saver@example.com';
  const owner = await service.signedIn(email);
  await service.joined(owner, { email: 'colleague@example.com', role: 'member' });
  const accountId = await service.accountOf(email);
  const ledger = createLedger(db);
  const post = { accountId, reason: 'test', actor: 'test' };
  const grant = (seconds: number) =>
    ledger.grant({ ...post, ms: seconds * 1_000, id: randomUUID() });
  /** Takes all credit but this. */
  const leave = async (seconds: number): Promise<void> => {
    const availableMs = (await ledger.balance(accountId))?.availableMs ?? 0;
    await ledger.adjust({ ...post, ms: seconds * 1_000 - availableMs, id: randomUUID() });
  };

  await leave(40);
  // The balance after a grant is 100 %: 50 s.
  await grant(10);
  await check();
  // 52 %.
  await leave(26);
  expect(await mailsAfterCheck(email)).toEqual([]);

  // 50 %.
  await streamSecond(owner);
  await check();
  expect(await mailsAfterCheck(email)).toEqual([subject(50)]);
  const mail = service.mail.emails.find((one) => one.subject === subject(50));
  expect(mail?.text).toContain('25 s');
  expect(mail?.text).toContain('https://console.example.org/app/credit\r\n');

  // 4 %: two levels at once are one email.
  await leave(2);
  expect(await mailsAfterCheck(email)).toEqual([subject(50), subject(5)]);
  // 2 %.
  await streamSecond(owner);
  expect(await mailsAfterCheck(email)).toEqual([subject(50), subject(5)]);

  // 10 s are now 100 %, and 2 s are 20 %.
  await grant(9);
  await leave(2);
  const all = [subject(50), subject(5), subject(20)];
  expect(await mailsAfterCheck(email)).toEqual(all);
  // Less than the second that a session reserves.
  await leave(0.999);
  expect(await mailsAfterCheck(email)).toEqual([...all, subject(0)]);
  expect(mailsTo('colleague@example.com')).toEqual([]);
});
