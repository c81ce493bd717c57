import type { ErrorBody } from '@svc-asr/protocol';
import type { Activity, Overview } from '@svc-asr/protocol/console/console.ts';
import type { CreditRequestList, OperatorRequestPage } from '@svc-asr/protocol/console/credit.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOperator, type Operator } from '../support/console/console-operator.ts';
import { startConsoleService, type TestBrowser } from '../support/console/console-service.ts';

const service = await startConsoleService();
afterAll(() => service.stop());
const db = service.database.pool;
let operator: Operator;
beforeAll(async () => {
  operator = await startOperator(service, 'operator@example.com');
  await startOperator(service, 'night-operator@example.com');
});

const MESSAGE = 'Radio pilot.\nhttps://evil.example';

async function ask(browser: TestBrowser, request: unknown = { minutes: 90, message: MESSAGE }) {
  const { status, body } = await browser.post<Partial<ErrorBody>>('/credit-requests', request);
  return body.error?.code ?? status;
}

async function openRequest(account: string) {
  const { body } = await operator.browser.get<OperatorRequestPage>('/operator/requests');
  return body.data.find(({ account_name }) => account_name === account);
}

async function decide(
  id: string | undefined,
  decision: { minutes: number | null; reason: string },
) {
  const path = `/operator/requests/${id}/decide`;
  const { status, body } = await operator.browser.post<Partial<ErrorBody>>(path, decision);
  return body.error?.code ?? status;
}

function mails(to: string, subject: string) {
  return service.mail.emails.filter((mail) => mail.to === to && mail.subject.includes(subject));
}

async function untilSent(): Promise<void> {
  const due = 'select from credit_request_notices';
  await eventually(async () => (await db.query(due)).rowCount === 0);
}

test('an owner asks, every operator gets an email, and a grant reaches the balance and the owners', async () => {
  const owner = await service.signedIn('asker@example.com');
  const partner = await service.joined(owner, { email: 'partner@example.com', role: 'owner' });
  const member = await service.joined(owner, { email: 'helper@example.com', role: 'member' });
  expect(await ask(member)).toBe('owner_only');
  expect(await ask(owner)).toBe(201);
  expect(await ask(partner)).toBe('credit_request_open');
  await untilSent();
  for (const to of ['operator@example.com', 'night-operator@example.com']) {
    const [mail, ...others] = mails(to, 'A request for svc-asr credit');
    expect(others).toEqual([]);
    expect(mail?.text).toContain('asker@example.com');
    expect(mail?.text).toContain('1 h 30 min');
    expect(mail?.text).toContain('https://console.example.org/app/operator/requests');
    // A request can't send its own text into a mailbox.
    expect(mail?.text).not.toMatch(/Radio pilot|evil/);
  }

  const request = await openRequest('asker@example.com');
  expect(request).toMatchObject({
    requested_by: 'asker@example.com',
    requested_ms: 5_400_000,
    message: MESSAGE,
    available_ms: 3_600_000,
  });
  await operator.confirm();
  expect(await decide(request?.id, { minutes: 60, reason: 'An hour for the pilot.' })).toBe(200);
  expect(await decide(request?.id, { minutes: 60, reason: 'again' })).toBe('not_found');
  expect((await owner.get<Overview>('/overview')).body.available_ms).toBe(7_200_000);
  await untilSent();
  for (const to of ['asker@example.com', 'partner@example.com']) {
    const [mail] = mails(to, 'credit was increased');
    expect(mail?.text).toContain('1 h');
    expect(mail?.text).toContain('An hour for the pilot.');
  }
  expect(mails('helper@example.com', 'credit')).toEqual([]);
  const { body: list } = await member.get<CreditRequestList>('/credit-requests');
  expect(list.data).toMatchObject([
    { status: 'granted', granted_ms: 3_600_000, reply: 'An hour for the pilot.' },
  ]);
  const { body: activity } = await owner.get<Activity>('/activity');
  expect(activity.data.map(({ action, by }) => [action, by])).toEqual(
    expect.arrayContaining([
      ['credit_request.created', 'person'],
      ['credit_request.granted', 'operator'],
      ['credit.grant', 'operator'],
    ]),
  );
  expect(JSON.stringify(activity)).not.toContain('operator@example.com');
});

test('a declined request changes no balance and tells the reason, and three a day are enough', async () => {
  const owner = await service.signedIn('often@example.com');
  await operator.confirm();
  for (let at = 1; at <= 3; at += 1) {
    expect(await ask(owner)).toBe(201);
    const { id } = (await openRequest('often@example.com')) ?? {};
    expect(await decide(id, { minutes: null, reason: `Not now, ${at}.` })).toBe(200);
  }
  expect(await ask(owner)).toBe('credit_request_limit_reached');
  expect((await owner.get<Overview>('/overview')).body.available_ms).toBe(3_600_000);
  await untilSent();
  const sent = mails('often@example.com', 'was declined').map(({ text }) => text);
  expect(sent.filter((text) => /Not now, \d\./.test(text))).toHaveLength(3);
  await db.query(`update credit_requests set requested_at = requested_at - interval '1 day'`);
  expect(await ask(owner)).toBe(201);
});

test('concurrent requests of an account leave one open', async () => {
  const owner = await service.signedIn('eager@example.com');
  const answers = await Promise.all([ask(owner), ask(owner), ask(owner), ask(owner)]);
  expect(answers.filter((answer) => answer === 201)).toHaveLength(1);
  expect(answers.filter((answer) => answer === 'credit_request_open')).toHaveLength(3);
});

test('refuses amounts and texts outside the limits', async () => {
  const owner = await service.signedIn('odd@example.com');
  for (const wrong of [
    { minutes: 0, message: '' },
    { minutes: 601, message: '' },
    { minutes: 1.5, message: '' },
    { minutes: 5, message: 'x'.repeat(501) },
    { minutes: 5, message: '\u001b]0;owned\u0007' },
    { minutes: 5, message: 'a\u202eb' },
    { minutes: 5 },
  ]) {
    expect([wrong, await ask(owner, wrong)]).toEqual([
      wrong,
      expect.stringMatching(/^(invalid|missing)_parameter$/),
    ]);
  }
});

test('requests are in the data export of their account only, and are erased with it', async () => {
  const owner = await service.signedIn('leaver@example.com');
  expect(await ask(owner, { minutes: 5, message: 'before I leave' })).toBe(201);
  const other = await service.signedIn('neighbour@example.com');
  expect((await other.get<CreditRequestList>('/credit-requests')).body.data).toEqual([]);
  expect(JSON.stringify((await other.get('/data')).body)).not.toContain('before I leave');
  expect(JSON.stringify((await owner.get('/data')).body)).toContain('before I leave');
  await untilSent();
  await owner.post('/erase', { confirm_email: 'leaver@example.com' });
  const { rowCount } = await db.query(
    `select from credit_requests where message = 'before I leave'`,
  );
  expect(rowCount).toBe(0);
});
