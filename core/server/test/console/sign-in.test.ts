import type { ErrorBody } from '@svc-asr/protocol';
import { CONSOLE_LIMITS, type CodeRequested, type Me } from '@svc-asr/protocol/console/console.ts';
import { afterAll, expect, test } from 'vitest';
import { startConsoleService, TestBrowser } from '../support/console/console-service.ts';

const service = await startConsoleService();
afterAll(() => service.stop());

const UNKNOWN = 'nobody@example.com';

function namesOf(headers: Headers): string[] {
  return [...headers.keys()].toSorted();
}

async function askForCode(browser: TestBrowser, email: string) {
  return browser.post<CodeRequested>('/sign-in/code', { email, language: 'en' });
}

test('an approved person gets a welcome email and signs in with an emailed code', async () => {
  await service.admit('wanjiku@example.com');
  const welcome = await service.mail.take('wanjiku@example.com');
  expect(welcome.text).toContain('https://console.example.org/app');
  expect(welcome.text).toContain('https://console.example.org/docs/start/quickstart');
  const browser = new TestBrowser(service.url);
  const { body } = await askForCode(browser, 'Wanjiku@Example.com');
  const code = await service.mail.takeCode('wanjiku@example.com');
  await browser.post('/sign-in/verify', { challenge: body.challenge, code });
  const me = await browser.get<Me>('/me');
  expect(me.body).toMatchObject({
    email: 'wanjiku@example.com',
    operator: false,
    account: { role: 'owner' },
  });
});

test('known and unknown addresses get the same response, and only the known one an email', async () => {
  await service.admit('akinyi@example.com');
  const browser = new TestBrowser(service.url);
  const known = await askForCode(browser, 'akinyi@example.com');
  const unknown = await askForCode(browser, UNKNOWN);
  expect(unknown.status).toBe(known.status);
  expect(Object.keys(unknown.body)).toEqual(Object.keys(known.body));
  expect(namesOf(unknown.headers)).toEqual(namesOf(known.headers));
  const wrong = { code: '00000000' };
  const refusals = await Promise.all(
    [known, unknown].map(({ body }) =>
      browser.post<ErrorBody>('/sign-in/verify', { ...wrong, challenge: body.challenge }),
    ),
  );
  const [first, second] = refusals.map(({ status, body }) => ({
    status,
    error: { ...body.error, request_id: '' },
  }));
  expect(second).toEqual(first);
  await service.mail.takeCode('akinyi@example.com');
  expect(service.mail.emails.filter(({ to }) => to === UNKNOWN)).toEqual([]);
});

test('refuses the right code after five wrong ones', async () => {
  await service.admit('brute@example.com');
  const browser = new TestBrowser(service.url);
  const { body } = await askForCode(browser, 'brute@example.com');
  const code = await service.mail.takeCode('brute@example.com');
  for (let guess = 0; guess < CONSOLE_LIMITS.codeTries; guess += 1) {
    const wrong = String((Number(code) + guess + 1) % 1e8).padStart(8, '0');
    const answer = await browser.post('/sign-in/verify', {
      challenge: body.challenge,
      code: wrong,
    });
    expect(answer.status).toBe(400);
  }
  const late = await browser.post('/sign-in/verify', { challenge: body.challenge, code });
  expect(late.status).toBe(400);
  expect(browser.cookie).toBe('');
});

test('counts concurrent guesses one by one', async () => {
  await service.admit('race@example.com');
  const browser = new TestBrowser(service.url);
  const { body } = await askForCode(browser, 'race@example.com');
  const code = await service.mail.takeCode('race@example.com');
  const guesses = Array.from({ length: 20 }, (_, at) =>
    String((Number(code) + at + 1) % 1e8).padStart(8, '0'),
  );
  await Promise.all(
    guesses.map((guess) =>
      browser.post('/sign-in/verify', { challenge: body.challenge, code: guess }),
    ),
  );
  const late = await browser.post('/sign-in/verify', { challenge: body.challenge, code });
  expect(late.status).toBe(400);
});

test('a code works once, even when it is used twice at the same moment', async () => {
  await service.admit('twice@example.com');
  const browser = new TestBrowser(service.url);
  const { body } = await askForCode(browser, 'twice@example.com');
  const code = await service.mail.takeCode('twice@example.com');
  const uses = await Promise.all(
    Array.from({ length: 5 }, () =>
      new TestBrowser(service.url).post('/sign-in/verify', { challenge: body.challenge, code }),
    ),
  );
  const statuses = uses.map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 400, 400, 400, 400]);
});

test('a code expires after ten minutes', async () => {
  await service.admit('late@example.com');
  const browser = new TestBrowser(service.url);
  const { body } = await askForCode(browser, 'late@example.com');
  const code = await service.mail.takeCode('late@example.com');
  await service.database.pool.query(
    `update sign_in_codes set expires_at = clock_timestamp() where challenge = $1`,
    [body.challenge],
  );
  const answer = await browser.post('/sign-in/verify', { challenge: body.challenge, code });
  expect(answer.status).toBe(400);
});

test('limits codes per address, known or not, with Retry-After', async () => {
  await service.admit('flood@example.com');
  const browser = new TestBrowser(service.url);
  for (const email of ['flood@example.com', 'flood-unknown@example.com']) {
    const statuses: number[] = [];
    const waits: number[] = [];
    for (let ask = 0; ask < 8; ask += 1) {
      const answer = await askForCode(browser, email);
      statuses.push(answer.status);
      waits.push(Number(answer.headers.get('retry-after')));
    }
    expect(waits.slice(0, 6)).toEqual([0, 0, 0, 0, 0, 0]);
    for (const wait of waits.slice(6)) expect(wait).toBeGreaterThan(3_500);
    for (const wait of waits.slice(6)) expect(wait).toBeLessThanOrEqual(3_600);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 202, 429, 429]);
  }
});

test('stores codes, tokens and addresses only as hashes', async () => {
  await service.admit('hashed@example.com');
  const browser = new TestBrowser(service.url);
  await askForCode(browser, UNKNOWN);
  const { body } = await askForCode(browser, 'hashed@example.com');
  const code = await service.mail.takeCode('hashed@example.com');
  await browser.post('/sign-in/verify', { challenge: body.challenge, code });
  const token = browser.cookieOf('__Host-svc_console');
  const device = browser.cookieOf('__Host-svc_device');
  const { rows } = await service.database.pool.query<{ dump: string }>(
    `select (select string_agg(s::text, ' ') from console_sessions s)
       || (select string_agg(c::text, ' ') from sign_in_codes c)
       || (select string_agg(k::text, ' ') from known_places k) as dump`,
  );
  const dump = rows[0]?.dump ?? '';
  expect(dump).not.toContain(token);
  expect(dump).not.toContain(device);
  expect(dump).not.toContain('127.0.0.1');
  expect(dump).not.toContain(code);
  expect(dump).not.toContain(UNKNOWN);
  expect(service.logged()).not.toContain(token);
  expect(service.logged()).not.toContain(code);
  expect(service.logged()).not.toContain('hashed@example.com');
});
