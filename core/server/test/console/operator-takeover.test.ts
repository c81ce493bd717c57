import type { ErrorBody } from '@svc-asr/protocol';
import type { PasskeyList } from '@svc-asr/protocol/console/console.ts';
import type { WaitlistPage } from '@svc-asr/protocol/console/operator.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEnrolment, setOperator } from '../../src/accounts/people/operators.ts';
import { runAdmin } from '../../src/admin/program.ts';
import {
  addPasskey,
  confirmWithPasskey,
  enrolmentCode,
  signInWithPasskey,
  startOperator,
  type Operator,
} from '../support/console/console-operator.ts';
import {
  startConsoleService,
  TestBrowser,
  type ConsoleService,
} from '../support/console/console-service.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';

/** Attacks on an operator with their mailbox alone, or with a stolen session. */

let service: ConsoleService;
let operator: Operator;
let entry: string;
beforeAll(async () => {
  service = await startConsoleService();
  operator = await startOperator(service, 'operator@example.com');
  await operator.browser.post('/waitlist', {
    email: 'mint@example.com',
    use_case: '',
    language: 'en',
  });
  const { body } = await operator.browser.get<WaitlistPage>('/operator/waitlist');
  entry = body.data[0]?.id ?? '';
});
afterAll(() => service.stop());

function newDevice(): SoftwareAuthenticator {
  return new SoftwareAuthenticator(service.config.console.publicUrl);
}

async function withMailbox(email: string): Promise<TestBrowser> {
  const browser = new TestBrowser(service.url);
  await browser.signIn(email, service.mail);
  return browser;
}

/** The stolen cookie in another browser. */
function stolen(from: TestBrowser): TestBrowser {
  const thief = new TestBrowser(service.url);
  thief.cookie = from.cookie;
  return thief;
}

function codeOf({ status, body }: { status: number; body: Partial<ErrorBody> }) {
  return body.error?.code ?? status;
}

/** Makes the last use of a passkey in every session older. */
async function age(interval: string): Promise<void> {
  const sql = 'update console_sessions set confirmed_at = confirmed_at - $1::interval';
  await service.database.pool.query(sql, [interval]);
}

function approve(browser: TestBrowser) {
  const approval = { ids: [entry], credit_minutes: 600, reason: '' };
  return browser.post<ErrorBody>('/operator/waitlist/approve', approval);
}

async function subjectsTo(email: string): Promise<string[]> {
  return service.mail.emails.filter(({ to }) => to === email).map(({ subject }) => subject);
}

test('the mailbox of an operator is not enough to add a passkey, remove one or grant credit', async () => {
  const attacker = await withMailbox('operator@example.com');
  expect(codeOf(await addPasskey(attacker, newDevice()))).toBe('confirm_first');
  const { body } = await attacker.get<PasskeyList>('/passkeys');
  const removal = await attacker.post<ErrorBody>(`/passkeys/${body.data[0]?.id}/remove`);
  expect(codeOf(removal)).toBe('confirm_first');
  expect(codeOf(await approve(attacker))).toBe('passkey_required');
});

test('a stolen session cannot add a passkey and confirm with it', async () => {
  await age('20 minutes');
  const thief = stolen(operator.browser);
  expect(codeOf(await approve(thief))).toBe('confirm_first');
  const device = newDevice();
  expect(codeOf(await addPasskey(thief, device))).toBe('confirm_first');
  // Skipping the first request doesn't help: the challenge of a confirmation is the person's too.
  const { body } = await thief.post<{ challenge: string; rpId: string }>('/confirm/options');
  const user = { id: operator.device.get(body).response.userHandle };
  const credential = device.create({ challenge: body.challenge, rp: { id: body.rpId }, user });
  const added = await thief.post<ErrorBody>('/passkeys', { name: 'x', credential });
  expect(codeOf(added)).toBe('confirm_first');
  expect(codeOf(await confirmWithPasskey(thief, device))).toBe('passkey_refused');
  expect(codeOf(await approve(thief))).toBe('confirm_first');
});

test('concurrent requests add no second first passkey', async () => {
  const person = await service.signedIn('first@example.com');
  const asked = await Promise.all(
    Array.from({ length: 6 }, () =>
      person.post<Parameters<SoftwareAuthenticator['create']>[0]>('/passkeys/options'),
    ),
  );
  const answers = await Promise.all(
    asked.map(({ body }) =>
      person.post<ErrorBody>('/passkeys', { name: 'x', credential: newDevice().create(body) }),
    ),
  );
  const outcomes = answers.map(codeOf);
  expect(outcomes.filter((outcome) => outcome === 201)).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'confirm_first')).toHaveLength(5);
});

test('an operator confirms with their passkey, then adds and removes passkeys; all operators get an email', async () => {
  const other = await startOperator(service, 'witness@example.com');
  expect(codeOf(await other.confirm())).toBe(200);
  await age('6 minutes');
  await operator.confirm();
  const spare = newDevice();
  expect(codeOf(await addPasskey(operator.browser, spare))).toBe(201);
  const second = new TestBrowser(service.url);
  expect(codeOf(await signInWithPasskey(second, spare))).toBe(200);
  const { body } = await operator.browser.get<PasskeyList>('/passkeys');
  const removal = await operator.browser.post<ErrorBody>(`/passkeys/${body.data[1]?.id}/remove`);
  expect(codeOf(removal)).toBe(200);
  // The session of the removed device ended with it.
  expect((await second.get('/me')).status).toBe(401);
  expect((await operator.browser.get('/me')).status).toBe(200);
  await expect
    .poll(() => subjectsTo('witness@example.com'))
    .toEqual(
      expect.arrayContaining([
        'svc-asr operator operator@example.com has a new passkey',
        'A passkey of svc-asr operator operator@example.com was removed',
      ]),
    );
  expect(await subjectsTo('operator@example.com')).toEqual(
    expect.arrayContaining([
      'A passkey was added to your svc-asr account',
      'A passkey was removed from your svc-asr account',
      'witness@example.com is now an operator of svc-asr',
      'A code to add a passkey was created for witness@example.com',
      'svc-asr operator witness@example.com has a new passkey',
    ]),
  );
});

test("an operator's first passkey needs a code from svc-admin, which works once and only for them", async () => {
  const db = service.database.pool;
  for (const email of ['new-operator@example.com', 'next-operator@example.com']) {
    await service.admit(email);
    await setOperator(db, { email, isOperator: true });
  }
  const browser = await withMailbox('new-operator@example.com');
  const { body } = await browser.get<PasskeyList>('/passkeys');
  expect(body.needs_enrolment_code).toBe(true);
  expect(codeOf(await addPasskey(browser, newDevice()))).toBe('enrolment_required');
  const theirs = await enrolmentCode(service, 'next-operator@example.com');
  expect(codeOf(await addPasskey(browser, newDevice(), theirs))).toBe('wrong_enrolment_code');

  const replaced = await enrolmentCode(service, 'new-operator@example.com');
  const code = await enrolmentCode(service, 'new-operator@example.com');
  expect(codeOf(await addPasskey(browser, newDevice(), replaced))).toBe('wrong_enrolment_code');
  const device = newDevice();
  expect(codeOf(await addPasskey(browser, device, code.toLowerCase()))).toBe(201);
  expect(codeOf(await addPasskey(browser, newDevice(), code))).toBe('wrong_enrolment_code');
  const fresh = new TestBrowser(service.url);
  expect(codeOf(await signInWithPasskey(fresh, device))).toBe(200);
  expect((await fresh.get('/operator/waitlist')).status).toBe(200);
});

test('an enrolment code ends after five wrong ones and after 15 minutes, and is stored as a hash', async () => {
  const email = 'guessed@example.com';
  const db = service.database.pool;
  await service.admit(email);
  await setOperator(db, { email, isOperator: true });
  const browser = await withMailbox(email);
  const code = await enrolmentCode(service, email);
  for (let guess = 0; guess < 5; guess += 1) {
    const wrong = await addPasskey(browser, newDevice(), `WRNG-000${guess}`);
    expect(codeOf(wrong)).toBe('wrong_enrolment_code');
  }
  expect(codeOf(await addPasskey(browser, newDevice(), code))).toBe('wrong_enrolment_code');

  const late = await enrolmentCode(service, email);
  await db.query(`update operator_enrolments set expires_at = expires_at - interval '15 minutes'`);
  expect(codeOf(await addPasskey(browser, newDevice(), late))).toBe('wrong_enrolment_code');

  const { rows } = await db.query<{ dump: string }>(
    `select string_agg(e::text, ' ') as dump from operator_enrolments e`,
  );
  expect(rows[0]?.dump).not.toContain(late.replaceAll('-', ''));
  expect(service.logged()).not.toContain(late);
  for (let more = 0; more < 3; more += 1) await createEnrolment(db, email);
  expect(await createEnrolment(db, email)).toBe('limit_reached');
  expect(await createEnrolment(db, 'mint@example.com')).toBe('not_operator');
});

test('a passkey or session planted before someone becomes an operator is worthless', async () => {
  const email = 'promoted@example.com';
  const planted = newDevice();
  const attacker = await service.signedIn(email);
  expect(codeOf(await addPasskey(attacker, planted))).toBe(201);
  expect(codeOf(await confirmWithPasskey(attacker, planted))).toBe(200);
  await setOperator(service.database.pool, { email, isOperator: true });
  expect((await attacker.get('/me')).status).toBe(401);
  expect(codeOf(await signInWithPasskey(new TestBrowser(service.url), planted))).toBe(
    'passkey_refused',
  );
  // Repeating the command changes nothing.
  const { device } = operator;
  await setOperator(service.database.pool, { email: 'operator@example.com', isOperator: true });
  expect(codeOf(await signInWithPasskey(new TestBrowser(service.url), device))).toBe(200);
});

test('svc-admin enrols an operator and resets lost passkeys, and the audit log names both', async () => {
  const email = 'lost@example.com';
  const lost = await startOperator(service, email);
  const admin = async (...words: string[]) => {
    let out = '';
    const write = (text: string) => void (out += text);
    const env = { DATABASE_URL: service.database.url };
    const status = await runAdmin(words, { env, devFolder: '/nowhere', out: write, err: write });
    return { status, out };
  };
  const enrolled = await admin('operators', 'enrol', email, '--json');
  expect(enrolled.status).toBe(0);
  const { enrolment_code: code }: { enrolment_code: string } = JSON.parse(enrolled.out);
  // With a lost passkey, a code session and the code are enough.
  expect(codeOf(await addPasskey(lost.withCode, newDevice(), code))).toBe(201);
  expect((await admin('passkeys', 'reset', email)).out).toMatch(/removed_passkeys +2/);
  expect((await lost.browser.get('/me')).status).toBe(401);
  expect((await admin('passkeys', 'reset', 'nobody@example.com')).status).toBe(1);
  expect((await admin('operators', 'enrol', 'mint@example.com')).out).toContain('not an operator');

  const { rows } = await service.database.pool.query<{ action: string }>(
    `select l.action from audit_log l join console_users u on u.id::text = l.target
      where u.email = $1 order by l.id`,
    [email],
  );
  const actions = rows.map(({ action }) => action);
  expect(actions).toEqual(
    expect.arrayContaining([
      'operator.changed',
      'operator.enrolment_created',
      'operator.enrolled',
      'passkey.created',
      'passkey.deleted',
    ]),
  );
});
