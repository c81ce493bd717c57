import type { ErrorBody } from '@svc-asr/protocol';
import type { PasskeyList, Settings } from '@svc-asr/protocol/console/console.ts';
import { afterAll, expect, test } from 'vitest';
import {
  startConsoleService,
  TestBrowser,
  type ConsoleAnswer,
} from '../support/console/console-service.ts';
import { confirmWithPasskey } from '../support/console/console-operator.ts';
import { SoftwareAuthenticator, type Bent } from '../support/software-authenticator.ts';

/** Responses of a device that the server accepts and refuses. passkeys.browser.test.ts tests the same in Chromium. */

const ORIGIN = 'https://console.example.org';

const service = await startConsoleService();
afterAll(() => service.stop());

type CreationOptions = Parameters<SoftwareAuthenticator['create']>[0];
type RequestOptions = Parameters<SoftwareAuthenticator['get']>[0];

interface Person {
  readonly browser: TestBrowser;
  readonly device: SoftwareAuthenticator;
}

/** Signs a person in with a code and adds a passkey. */
async function withPasskey(email: string): Promise<Person> {
  const browser = await service.signedIn(email);
  const device = new SoftwareAuthenticator(ORIGIN);
  expect((await add(browser, device)).status).toBe(201);
  return { browser, device };
}

async function add(
  browser: TestBrowser,
  device: SoftwareAuthenticator,
  bent: Bent = {},
): Promise<ConsoleAnswer<PasskeyList & ErrorBody>> {
  const { body } = await browser.post<CreationOptions>('/passkeys/options');
  return browser.post('/passkeys', { name: 'my phone', credential: device.create(body, bent) });
}

/** Requests a challenge in a browser and signs it with the device. */
async function use(
  browser: TestBrowser,
  device: SoftwareAuthenticator,
  bent: Bent = {},
): Promise<ConsoleAnswer<ErrorBody>> {
  const { body } = await browser.post<RequestOptions>('/sign-in/passkey/options');
  return browser.post('/sign-in/passkey', { credential: device.get(body, bent) });
}

function stranger(): TestBrowser {
  return new TestBrowser(service.url);
}

test('a passkey signs in with a normal session, and an email reports that it was added', async () => {
  const { browser, device } = await withPasskey('amina@example.com');
  await expect
    .poll(() => service.mail.emails.map(({ to, subject }) => `${to}: ${subject}`))
    .toContain('amina@example.com: A passkey was added to your svc-asr account');
  const fresh = stranger();
  const answer = await use(fresh, device);
  expect(answer.status).toBe(200);
  expect(answer.headers.getSetCookie().join('\n')).toMatch(
    /^__Host-svc_passkey=; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=0\n__Host-svc_console=[\w-]{43}; /,
  );
  expect((await fresh.get<{ email: string }>('/me')).body.email).toBe('amina@example.com');
  const { body } = await browser.get<PasskeyList>('/passkeys');
  expect(body.data).toMatchObject([{ name: 'my phone', last_used_at: expect.any(String) }]);
});

test('the challenge is in a cookie of this browser alone, for five minutes', async () => {
  const { headers } = await stranger().post<RequestOptions>('/sign-in/passkey/options');
  expect(headers.get('set-cookie')).toMatch(
    /^__Host-svc_passkey=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=300$/,
  );
});

test('signing in by passkey creates a new session and ends the previous one', async () => {
  const { device } = await withPasskey('victim@example.com');
  const attacker = await service.signedIn('attacker@example.com');
  const victim = stranger();
  victim.cookie = attacker.cookie;
  expect((await use(victim, device)).status).toBe(200);
  expect((await victim.get<{ email: string }>('/me')).body.email).toBe('victim@example.com');
  expect((await attacker.get('/me')).status).toBe(401);
});

test.each<[string, Bent]>([
  ['at another address', { origin: 'https://console.example.org.evil.example' }],
  ['for another site', { rpId: 'evil.example' }],
  ['without its owner being verified', { userVerified: false }],
  ['for the challenge of another person', { challenge: Buffer.alloc(32, 1).toString('base64url') }],
])(
  'a response that a device signed %s neither adds a passkey nor signs in',
  async (_what, bent) => {
    const browser = await service.signedIn(`${crypto.randomUUID()}@example.com`);
    const device = new SoftwareAuthenticator(ORIGIN);
    const refused = await add(browser, device, bent);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'passkey_refused' } } });
    expect((await add(browser, device)).status).toBe(201);
    const fresh = stranger();
    const answer = await use(fresh, device, bent);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'passkey_refused' } } });
    expect((await fresh.get('/me')).status).toBe(401);
    expect((await use(fresh, device)).status).toBe(200);
  },
);

test('a response works once, in the same browser, and expires', async () => {
  const { device } = await withPasskey('once@example.com');
  const asked = stranger();
  const { body: options } = await asked.post<RequestOptions>('/sign-in/passkey/options');
  const kept = asked.cookie;
  const credential = device.get(options);

  const thief = stranger();
  await thief.post('/sign-in/passkey/options');
  expect((await thief.post('/sign-in/passkey', { credential })).status).toBe(400);
  expect((await stranger().post('/sign-in/passkey', { credential })).status).toBe(400);
  expect((await asked.post('/sign-in/passkey', { credential })).status).toBe(200);
  const replayed = stranger();
  replayed.cookie = kept;
  expect((await replayed.post('/sign-in/passkey', { credential })).status).toBe(400);

  const late = stranger();
  const { body: old } = await late.post<RequestOptions>('/sign-in/passkey/options');
  await service.database.pool.query(
    'update passkey_challenges set expires_at = clock_timestamp() where user_id is null',
  );
  expect((await late.post('/sign-in/passkey', { credential: device.get(old) })).status).toBe(400);
});

test('concurrent attempts with one challenge sign in once', async () => {
  const { device } = await withPasskey('racer@example.com');
  const browser = stranger();
  const { body } = await browser.post<RequestOptions>('/sign-in/passkey/options');
  const racers = Array.from({ length: 5 }, () => {
    const racer = stranger();
    racer.cookie = browser.cookie;
    return racer.post('/sign-in/passkey', { credential: device.get(body) });
  });
  const statuses = (await Promise.all(racers)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 400)).toHaveLength(4);
});

test('refuses a counter that does not increase, which means a cloned device', async () => {
  const { device } = await withPasskey('copied@example.com');
  expect((await use(stranger(), device, { counter: 7 })).status).toBe(200);
  expect((await use(stranger(), device, { counter: 7 })).status).toBe(400);
  expect((await use(stranger(), device, { counter: 6 })).status).toBe(400);
  expect((await use(stranger(), device, { counter: 8 })).status).toBe(200);
});

test("a person cannot use another's passkey, neither by its id, its owner's id nor their challenge", async () => {
  const mine = await withPasskey('mine@example.com');
  const theirs = await withPasskey('theirs@example.com');
  const { body: options } = await stranger().post<RequestOptions>('/sign-in/passkey/options');
  const theirHandle = theirs.device.get(options).response.userHandle;
  expect((await use(stranger(), mine.device, { userHandle: theirHandle })).status).toBe(400);

  const asTheirs = stranger();
  const { body } = await asTheirs.post<RequestOptions>('/sign-in/passkey/options');
  const { credentialId: id } = theirs.device;
  const forged = { ...mine.device.get(body, { userHandle: theirHandle }), id, rawId: id };
  expect((await asTheirs.post('/sign-in/passkey', { credential: forged })).status).toBe(400);

  await confirmWithPasskey(mine.browser, mine.device);
  const { body: forMe } = await mine.browser.post<CreationOptions>('/passkeys/options');
  const planted = new SoftwareAuthenticator(ORIGIN).create(forMe);
  const answer = await theirs.browser.post('/passkeys', { name: 'x', credential: planted });
  expect(answer.status).toBe(400);
  await confirmWithPasskey(theirs.browser, theirs.device);
  expect((await add(theirs.browser, mine.device)).body.error.code).toBe('passkey_refused');
  const { body: list } = await mine.browser.get<PasskeyList>('/passkeys');
  const removal = await theirs.browser.post(`/passkeys/${list.data[0]?.id}/remove`);
  expect(removal.status).toBe(404);
});

test('refuses a removed passkey and that of a removed member', async () => {
  const { browser, device } = await withPasskey('owner@example.com');
  const { body: list } = await browser.get<PasskeyList>('/passkeys');
  await confirmWithPasskey(browser, device);
  const answer = await browser.post<PasskeyList>(`/passkeys/${list.data[0]?.id}/remove`);
  expect(answer.body.data).toEqual([]);
  expect((await use(stranger(), device)).status).toBe(400);

  const colleague = await service.joined(browser, {
    email: 'colleague@example.com',
    role: 'member',
  });
  const theirDevice = new SoftwareAuthenticator(ORIGIN);
  expect((await add(colleague, theirDevice)).status).toBe(201);
  const { body: team } = await browser.get<Settings>('/settings');
  const member = team.members.find(({ email }) => email === 'colleague@example.com');
  await browser.post(`/settings/members/${member?.id}/remove`);
  expect((await use(stranger(), theirDevice)).status).toBe(400);
});

test('limits challenges by network address', async () => {
  const narrow = await startConsoleService({ env: { RATE_CONSOLE_FORMS: '1/3' } });
  try {
    const answers = [];
    for (const path of ['/options', '/options', '/options', '/options', '']) {
      answers.push(await new TestBrowser(narrow.url).post(`/sign-in/passkey${path}`));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
  } finally {
    await narrow.stop();
  }
});

test('limits a person to ten passkeys, even with concurrent requests', async () => {
  const { browser, device } = await withPasskey('collector@example.com');
  await confirmWithPasskey(browser, device);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => add(browser, new SoftwareAuthenticator(ORIGIN))),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(9);
  expect(answers.find(({ status }) => status === 409)?.body.error.code).toBe(
    'passkey_limit_reached',
  );
});

test('logs that a passkey was added or removed, without its data', async () => {
  const { device } = await withPasskey('logged@example.com');
  expect((await use(stranger(), device)).status).toBe(200);
  expect(service.logged()).toContain('A passkey was added.');
  expect(service.logged()).toContain('A passkey was removed.');
  expect(service.logged()).not.toContain(device.credentialId);
  expect(service.logged()).not.toContain('logged@example.com');
});

test('no role writes or deletes a passkey itself; only the console and sign-in roles read them', async () => {
  const writes = [
    `update passkeys set public_key = '\\x00'`,
    'delete from passkeys',
    `insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name)
      select gen_random_uuid(), id, 'x', '\\x00', 0, '{}', 'x' from console_users limit 1`,
  ];
  for (const role of ['svc_console', 'svc_sign_in'] as const) {
    for (const write of writes) {
      await expect(service.database.as(role).query(write), `${role} ${write}`).rejects.toThrow(
        'permission denied',
      );
    }
  }
  for (const role of [
    'svc_api',
    'svc_node',
    'svc_sweeper',
    'svc_auditor',
    'svc_operator',
  ] as const) {
    const looked = service.database.as(role).query('select from passkeys');
    await expect(looked, role).rejects.toThrow('permission denied');
  }
});
