import { randomUUID } from 'node:crypto';
import type { ErrorBody } from '@svc-asr/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestCredit } from '../../src/accounts/credit-requests.ts';
import { findPersonByEmail } from '../../src/accounts/people/members.ts';
import { joinWaitlist } from '../../src/accounts/waitlist.ts';
import { startOperator, type Operator } from '../support/console/console-operator.ts';
import { startConsoleService, type TestBrowser } from '../support/console/console-service.ts';

/** Rules of the database about operators, also if the console forgot its own. */

const service = await startConsoleService();
afterAll(() => service.stop());
const db = service.database.pool;
let operator: Operator;
let accountId: string;
beforeAll(async () => {
  operator = await startOperator(service, 'operator@example.com');
  accountId = await service.admit('customer@example.com');
});

async function change(path: string, body: unknown) {
  const { status, body: answer } = await operator.browser.post<Partial<ErrorBody>>(path, body);
  return answer.error?.code ?? status;
}

function grant(): Promise<string | number> {
  const tenHours = { id: randomUUID(), minutes: 600, reason: 'test' };
  return change(`/operator/accounts/${accountId}/grant`, tenHours);
}

async function waiting(email: string): Promise<string> {
  await joinWaitlist(db, { email, name: '', purpose: '' });
  const found = 'select id from waitlist where email = $1';
  return (await db.query<{ id: string }>(found, [email])).rows[0]?.id ?? '';
}

async function openRequest(): Promise<string> {
  const person = await findPersonByEmail(db, 'customer@example.com');
  const request = { accountId, userId: person?.id ?? '', ms: 60_000, message: '' };
  await requestCredit(db, request);
  const open = `select id from credit_requests where account_id = $1 and status = 'open'`;
  return (await db.query<{ id: string }>(open, [accountId])).rows[0]?.id ?? '';
}

/** What the database answers to every change in the name of the person who is signed in there. */
async function everyChangeBy(browser: TestBrowser, ms = 60_000): Promise<Record<string, string>> {
  const token = browser.cookieOf('__Host-svc_console');
  const entry = await waiting(`${randomUUID()}@example.com`);
  const request = await openRequest();
  const calls: [string, unknown[]][] = [
    ['approve_as_operator($1, $2, $3, $4, $5)', [entry, randomUUID(), ms, 'test']],
    ['decline_as_operator($1, $2, $3)', [entry, 'test']],
    ['set_account_status_as_operator($1, $2, $3, $4)', [accountId, 'suspended', 'test']],
    ['set_concurrency_as_operator($1, $2, $3, $4)', [accountId, 2, 'test']],
    ['grant_as_operator($1, $2, $3, $4, $5)', [accountId, ms, 'test', randomUUID()]],
    ['decide_credit_request_as_operator($1, $2, $3, $4)', [request, ms, 'test']],
  ];
  const answers: Record<string, string> = {};
  for (const [call, values] of calls) {
    const sql = `select ${call} as outcome`;
    const { rows } = await db.query<{ outcome: string }>(sql, [token, ...values]);
    answers[call.split('_as_')[0] ?? ''] = rows[0]?.outcome ?? '';
  }
  return answers;
}

const CHANGES = [
  'approve',
  'decline',
  'set_account_status',
  'set_concurrency',
  'grant',
  'decide_credit_request',
];
const all = (outcome: string) => Object.fromEntries(CHANGES.map((name) => [name, outcome]));

test('the database knows nobody but operators who signed in with a passkey', async () => {
  const owner = await service.signedIn('owner@example.com');
  expect(await everyChangeBy(owner)).toEqual(all('not_found'));
  expect(await everyChangeBy(operator.withCode)).toEqual(all('not_found'));
  await db.query(
    `update console_sessions set verified_by = 'passkey', confirmed_at = clock_timestamp()
      where user_id = (select id from console_users where email = 'owner@example.com')`,
  );
  expect(await everyChangeBy(owner)).toEqual(all('not_found'));
});

test('a sign-in without any use of the passkey since can change nothing but decline', async () => {
  await db.query('update console_sessions set confirmed_at = null');
  expect(await everyChangeBy(operator.browser)).toEqual({
    ...all('confirm_first'),
    decline: 'declined',
  });
});

test('the database grants at most ten hours at once, whatever the console asks for', async () => {
  await operator.confirm();
  expect(await everyChangeBy(operator.browser, 36_060_000)).toMatchObject({
    approve: 'credit_limit_reached',
    grant: 'credit_limit_reached',
    decide_credit_request: 'credit_limit_reached',
  });
});

test('the 100 hours of an operator begin anew after a day', async () => {
  await operator.confirm();
  for (let at = 0; at < 10; at += 1) expect(await grant()).toBe(200);
  expect(await grant()).toBe('credit_limit_reached');
  await db.query(`update operator_grants set granted_at = granted_at - interval '1 day'`);
  expect(await grant()).toBe(200);
});

test('an approved person can no longer be declined', async () => {
  await operator.confirm();
  const ids = [await waiting('decided@example.com')];
  const approved = { ids, credit_minutes: 1, reason: '' };
  expect(await change('/operator/waitlist/approve', approved)).toBe(200);
  expect(await change('/operator/waitlist/decline', { ids, reason: '' })).toBe('not_found');
});

test('an account that moves to another cell can not be changed here', async () => {
  await operator.confirm();
  const request = await openRequest();
  await db.query(`update accounts set move_state = 'moving' where id = $1`, [accountId]);
  const reason = 'test';
  for (const [path, body] of [
    [`accounts/${accountId}/suspend`, { reason }],
    [`accounts/${accountId}/concurrency`, { limit: 2, reason }],
    [`accounts/${accountId}/grant`, { id: randomUUID(), minutes: 1, reason }],
    [`requests/${request}/decide`, { minutes: 1, reason }],
    [`requests/${request}/decide`, { minutes: null, reason }],
  ] as const) {
    expect([path, await change(`/operator/${path}`, body)]).toEqual([path, 'not_found']);
  }
});
