import type { ErrorBody } from '@svc-asr/protocol';
import type { Overview } from '@svc-asr/protocol/console/console.ts';
import type { OperatorAccountPage, WaitlistPage } from '@svc-asr/protocol/console/operator.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOperator, type Operator } from '../support/console/console-operator.ts';
import {
  startConsoleService,
  TestBrowser,
  type ConsoleService,
} from '../support/console/console-service.ts';

let service: ConsoleService;
let operator: Operator;
beforeAll(async () => {
  service = await startConsoleService();
  operator = await startOperator(service, 'operator@example.com');
});
afterAll(() => service.stop());

/** Joins the waitlist and returns the id of the entry. */
async function waiting(email: string): Promise<string> {
  await operator.browser.post('/waitlist', { email, use_case: 'a clinic line', language: 'sw' });
  const { body } = await operator.browser.get<WaitlistPage>('/operator/waitlist');
  return body.data.find((entry) => entry.email === email)?.id ?? '';
}

function approve(id: string, minutes = 5, browser = operator.browser) {
  const body = { ids: [id], credit_minutes: minutes, reason: '' };
  return browser.post<ErrorBody>('/operator/waitlist/approve', body);
}

/** Makes the last use of the passkey older than this. */
async function age(interval: string): Promise<void> {
  await service.database.pool.query(
    `update console_sessions set confirmed_at = confirmed_at - $1::interval`,
    [interval],
  );
}

test('an operator who signed in with a code reaches no operator page', async () => {
  const answer = await operator.withCode.get<ErrorBody>('/operator/waitlist');
  expect([answer.status, answer.body.error.code]).toEqual([403, 'passkey_required']);
  const id = await waiting('by-code@example.com');
  const refused = await approve(id, 5, operator.withCode);
  expect(refused.body.error.code).toBe('passkey_required');
});

test('nobody else learns that the operator pages exist, and approving twice grants once', async () => {
  const stranger = await service.signedIn('stranger@example.com');
  expect((await stranger.get('/operator/waitlist')).status).toBe(404);
  const id = await waiting('hopeful@example.com');
  expect((await approve(id, 5, stranger)).status).toBe(404);
  await operator.confirm();
  const approvals = await Promise.all([approve(id), approve(id)]);
  expect(approvals.map(({ status }) => status)).toEqual([200, 200]);
  expect((await service.mail.take('hopeful@example.com')).text).toContain('Karibu');
  const hopeful = new TestBrowser(service.url);
  await hopeful.signIn('hopeful@example.com', service.mail);
  expect((await hopeful.get<Overview>('/overview')).body.available_ms).toBe(5 * 60_000);
});

test('granting credit needs a passkey used within the last five minutes', async () => {
  const id = await waiting('later@example.com');
  await operator.confirm();
  await age('6 minutes');
  const refused = await approve(id);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'confirm_first']);
  expect((await operator.confirm()).status).toBe(200);
  expect((await approve(id)).status).toBe(200);
});

test('the passkey of another operator does not confirm a session', async () => {
  const other = await startOperator(service, 'other-operator@example.com');
  await age('6 minutes');
  expect((await other.confirm(operator.browser)).status).toBe(400);
  const refused = await approve(await waiting('not-confirmed@example.com'));
  expect(refused.body.error.code).toBe('confirm_first');
});

test('one approval grants at most 10 hours, and one operator at most 100 hours a day', async () => {
  await operator.confirm();
  expect((await approve(await waiting('greedy@example.com'), 601)).status).toBe(400);
  const spender = await startOperator(service, 'spender@example.com');
  const statuses: number[] = [];
  for (let at = 0; at < 11; at += 1) {
    const id = await waiting(`many-${at}@example.com`);
    statuses.push((await approve(id, 600, spender.browser)).status);
  }
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 409]);
});

test('suspending and resuming need a passkey used within the last five minutes', async () => {
  const accountId = await service.admit('suspect@example.com');
  const status = async (): Promise<unknown> => {
    const { body } = await operator.browser.get<OperatorAccountPage>(
      '/operator/accounts?search=SUSPECT@example',
    );
    expect(body.data.map(({ id }) => id)).toEqual([accountId]);
    return body.data[0]?.status;
  };
  const change = async (action: string, browser = operator.browser) => {
    const { status, body } = await browser.post<Partial<ErrorBody>>(
      `/operator/accounts/${accountId}/${action}`,
      { reason: 'invoice 2027-014 overdue' },
    );
    return body.error?.code ?? status;
  };
  await operator.confirm();
  await age('6 minutes');
  expect(await change('suspend')).toBe('confirm_first');
  expect(await status()).toBe('active');
  expect(await change('suspend', operator.withCode)).toBe('passkey_required');
  const stranger = await service.signedIn('curious@example.com');
  expect(await change('suspend', stranger)).toBe('not_found');
  expect((await stranger.get('/operator/accounts')).status).toBe(404);

  await operator.confirm();
  expect(await change('suspend')).toBe(200);
  expect(await status()).toBe('suspended');
  await age('6 minutes');
  expect(await change('resume')).toBe('confirm_first');
  await operator.confirm();
  expect(await change('resume')).toBe(200);
  expect(await status()).toBe('active');

  const { rows } = await service.database.pool.query(
    `select u.email, l.action, l.before ->> 'status' as before, l.after ->> 'status' as after,
        l.after ->> 'reason' as reason,
        l.request_id is not null as has_request, s.source
      from audit_log l join console_users u on u.id = l.actor_id
      left join audit_sources s on s.audit_id = l.id
      where l.account_id = $1 and l.action = 'account.changed' order by l.id`,
    [accountId],
  );
  const entry = {
    email: 'operator@example.com',
    action: 'account.changed',
    has_request: true,
    reason: 'invoice 2027-014 overdue',
    source: '127.0.0.1',
  };
  expect(rows).toEqual([
    { ...entry, before: 'active', after: 'suspended' },
    { ...entry, before: 'suspended', after: 'active' },
  ]);
});

test('an erased account is neither found nor resumed', async () => {
  const accountId = await service.admit('gone@example.com');
  await service.database.pool.query('select erase_account($1)', [accountId]);
  await operator.confirm();
  const resumed = await operator.browser.post<ErrorBody>(`/operator/accounts/${accountId}/resume`, {
    reason: 'paid',
  });
  expect(resumed.body.error.code).toBe('not_found');
  const found = await operator.browser.get<OperatorAccountPage>(
    `/operator/accounts?search=${accountId}`,
  );
  expect(found.body.data).toEqual([]);
});

test('an operator session ends after 8 hours, a member session after 14 days', async () => {
  await service.signedIn('ordinary@example.com');
  const { rows } = await service.database.pool.query<{ email: string; hours: number }>(
    `select u.email, (extract(epoch from s.expires_at - s.created_at) / 3600)::int as hours
      from console_sessions s join console_users u on u.id = s.user_id
      where u.email in ('ordinary@example.com', 'other-operator@example.com')
        and (s.verified_by = 'passkey' or not u.is_operator) order by u.email`,
  );
  expect(rows).toEqual([
    { email: 'ordinary@example.com', hours: 336 },
    { email: 'other-operator@example.com', hours: 8 },
  ]);
});

test('an operator session ends after 30 minutes without a request, a member session after 24 hours', async () => {
  const member = await service.signedIn('absent@example.com');
  const absent = await startOperator(service, 'absent-operator@example.com');
  const browsers = [member, absent.browser];
  async function pass(interval: string): Promise<number[]> {
    await service.database.pool.query(
      `update console_sessions s set last_seen_at = last_seen_at - $1::interval
        from console_users u where u.id = s.user_id and u.email like 'absent%'`,
      [interval],
    );
    return Promise.all(browsers.map(async (browser) => (await browser.get('/me')).status));
  }
  // Each request starts the time anew.
  expect(await pass('29 minutes')).toEqual([200, 200]);
  expect(await pass('29 minutes')).toEqual([200, 200]);
  expect(await pass('30 minutes')).toEqual([200, 401]);
  expect(await pass('23 hours 59 minutes')).toEqual([200, 401]);
  expect(await pass('24 hours')).toEqual([401, 401]);
});

test('an idle session of an operator cannot grant credit, be confirmed or end other sessions', async () => {
  const idle = await startOperator(service, 'idle-operator@example.com');
  await idle.confirm();
  const token = idle.browser.cookieOf('__Host-svc_console');
  const db = service.database.pool;
  await db.query(`update console_sessions s set last_seen_at = last_seen_at - interval '30 minutes'
    from console_users u where u.id = s.user_id and u.email = 'idle-operator@example.com'`);
  const { rows } = await db.query(
    `select approve_as_operator($1, $2, $2, 1000, '') as approved,
      confirm_console_session($1, u.id) as confirmed, close_console_sessions($1) as closed
      from console_users u where u.email = 'idle-operator@example.com'`,
    [token, crypto.randomUUID()],
  );
  expect(rows).toEqual([{ approved: 'not_found', confirmed: false, closed: 0 }]);
});

test('making someone an operator ends the longer sessions they had', async () => {
  const promoted = await startOperator(service, 'promoted@example.com');
  expect((await promoted.browser.get('/me')).status).toBe(200);
  const { rows } = await service.database.pool.query<{ hours: number }>(
    `select max(extract(epoch from s.expires_at - clock_timestamp()) / 3600)::int as hours
      from console_sessions s join console_users u on u.id = s.user_id
      where u.email = 'promoted@example.com'`,
  );
  expect(rows[0]?.hours).toBeLessThanOrEqual(8);
});

test('signing out everywhere ends every session of the person and nobody else', async () => {
  const first = await service.signedIn('roamer@example.com');
  const second = new TestBrowser(service.url);
  await second.signIn('roamer@example.com', service.mail);
  const bystander = await service.signedIn('bystander@example.com');
  const kept = first.cookie;
  expect((await first.post('/sign-out-everywhere')).status).toBe(200);
  first.cookie = kept;
  expect((await first.get('/me')).status).toBe(401);
  expect((await second.get('/me')).status).toBe(401);
  expect((await bystander.get('/me')).status).toBe(200);
});
