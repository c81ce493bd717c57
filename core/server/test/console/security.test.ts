import type { AsrSession, ErrorBody } from '@svc-asr/protocol';
import type { KeyList, Overview, Settings } from '@svc-asr/protocol/console/console.ts';
import { afterAll, expect, test } from 'vitest';
import { startConsoleService, TestBrowser } from '../support/console/console-service.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';

const service = await startConsoleService();
afterAll(() => service.stop());

test('the session cookie is HttpOnly, Secure, SameSite=Lax and bound to this host', async () => {
  await service.admit('cookie@example.com');
  const browser = new TestBrowser(service.url);
  const asked = await browser.post<{ challenge: string }>('/sign-in/code', {
    email: 'cookie@example.com',
    language: 'en',
  });
  const code = await service.mail.takeCode('cookie@example.com');
  const answer = await browser.post('/sign-in/verify', { ...asked.body, code });
  const cookie = answer.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^__Host-svc_console=[\w-]{43}; /);
  for (const flag of ['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax'])
    expect(cookie).toContain(flag);
  expect(cookie).not.toContain('Domain');
});

test('refuses cross-site requests with the cookie', async () => {
  const browser = await service.signedIn('csrf@example.com');
  const forgeries: Record<string, string>[] = [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    { origin: 'https://console.example.org', 'sec-fetch-site': 'same-site' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
  ];
  const key = { name: 'forged', models: [KIKUYU], expires_in_days: null };
  for (const headers of forgeries) {
    const answer = await browser.post<ErrorBody>('/keys', key, headers);
    expect(answer.status).toBe(403);
    expect(answer.body.error.code).toBe('cross_site_request');
  }
  const asForm = await browser.post('/keys', key, {
    'content-type': 'application/x-www-form-urlencoded',
  });
  expect(asForm.status).toBe(415);
  const bare = await fetch(`${service.url}/console-api/keys`, {
    method: 'POST',
    headers: { cookie: browser.cookie, 'content-type': 'application/json' },
    body: JSON.stringify(key),
  });
  expect(bare.status).toBe(403);
  const { body } = await browser.get<KeyList>('/keys');
  expect(body.data).toEqual([]);
});

test('signing in replaces a planted session token and ends it', async () => {
  const attacker = await service.signedIn('attacker@example.com');
  const planted = attacker.cookie;
  await service.admit('victim@example.com');
  const victim = new TestBrowser(service.url);
  victim.cookie = planted;
  await victim.signIn('victim@example.com', service.mail);
  expect(victim.cookie).not.toBe(planted);
  expect((await victim.get<{ email: string }>('/me')).body.email).toBe('victim@example.com');
  expect((await attacker.get('/me')).status).toBe(401);
  const invented = new TestBrowser(service.url);
  invented.cookie = `__Host-svc_console=${'A'.repeat(43)}`;
  expect((await invented.get('/me')).status).toBe(401);
});

test('signing out ends the session on the server, not only in the browser', async () => {
  const browser = await service.signedIn('leaver@example.com');
  const kept = browser.cookie;
  await browser.post('/sign-out');
  browser.cookie = kept;
  expect((await browser.get('/me')).status).toBe(401);
});

test("another account's keys, members and figures cannot be reached or changed", async () => {
  const one = await service.signedIn('tenant-one@example.com');
  const other = await service.signedIn('tenant-two@example.com');
  const { key } = await one.createKey('mine');
  const { body: settings } = await one.get<Settings>('/settings');
  const member = settings.members[0]?.id ?? '';
  const { body: session } = await one.post<AsrSession>('/playground/session', { model: KIKUYU });
  expect((await one.get(`/playground/session/${session.id}`)).status).toBe(200);
  const attempts = await Promise.all([
    other.get(`/playground/session/${session.id}`),
    other.post(`/keys/${key.id}/revoke`),
    other.post(`/keys/${key.id}/rotate`),
    other.post(`/keys/${key.id}/rename`, { name: 'stolen' }),
    other.post(`/settings/members/${member}/remove`),
    other.post(`/settings/members/${member}/role`, { role: 'member' }),
  ]);
  expect(attempts.map(({ status }) => status)).toEqual(attempts.map(() => 404));
  const seen = await Promise.all(
    ['/keys', '/settings', '/overview', '/data', '/playground/credit'].map((path) =>
      other.get(path),
    ),
  );
  const all = JSON.stringify(seen.map(({ body }) => body));
  expect(all).not.toContain(key.id);
  expect(all).not.toContain('tenant-one@example.com');
  const { body: keys } = await one.get<KeyList>('/keys');
  expect(keys.data.map(({ status }) => status)).toEqual(['live']);
});

test('a member can read and stream but not change owner settings', async () => {
  const owner = await service.signedIn('owner@example.com');
  const member = await service.joined(owner, { email: 'member@example.com', role: 'member' });
  const { key } = await owner.createKey();
  const refused = await Promise.all([
    member.post(`/keys/${key.id}/rename`, { name: 'mine' }),
    member.post('/keys', { name: 'x', models: [KIKUYU], expires_in_days: null }),
    member.post('/settings/origins', { allowed_origins: [] }),
    member.post('/settings/members', { email: 'friend@example.com', role: 'owner' }),
    member.post('/erase', { confirm_email: 'member@example.com' }),
  ]);
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
  expect((await member.get<Overview>('/overview')).body.available_ms).toBe(3_600_000);
});

test('a removed member loses access at once, and concurrent changes leave an owner', async () => {
  const first = await service.signedIn('first-owner@example.com');
  const second = await service.joined(first, { email: 'second-owner@example.com', role: 'owner' });
  const { body } = await first.get<Settings>('/settings');
  const id = (email: string) => body.members.find((member) => member.email === email)?.id ?? '';
  const steps = await Promise.all([
    first.post(`/settings/members/${id('second-owner@example.com')}/role`, { role: 'member' }),
    second.post(`/settings/members/${id('first-owner@example.com')}/role`, { role: 'member' }),
  ]);
  const { rows } = await service.database.pool.query<{ owners: number }>(
    `select count(*) as owners from memberships m join console_users u on u.id = m.user_id
      where m.role = 'owner' and u.email in ('first-owner@example.com', 'second-owner@example.com')`,
  );
  expect(steps.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
  expect(rows[0]?.owners).toBeGreaterThanOrEqual(1);

  const boss = await service.signedIn('boss@example.com');
  const gone = await service.joined(boss, { email: 'gone@example.com', role: 'member' });
  const { body: team } = await boss.get<Settings>('/settings');
  const goneId = team.members.find((member) => member.email === 'gone@example.com')?.id ?? '';
  expect((await boss.post(`/settings/members/${goneId}/remove`)).status).toBe(200);
  expect((await gone.get('/me')).status).toBe(401);
});

test('the waitlist response is the same for new, waiting and registered addresses', async () => {
  const browser = await service.signedIn('here-already@example.com');
  const body = { use_case: '', language: 'en' };
  const answers = [];
  for (const email of ['new@example.com', 'new@example.com', 'here-already@example.com']) {
    answers.push(await browser.post('/waitlist', { email, ...body }));
  }
  expect(answers.map(({ status, body: said }) => ({ status, said }))).toEqual([
    { status: 202, said: {} },
    { status: 202, said: {} },
    { status: 202, said: {} },
  ]);
});

test('K03 the playground gets a session and no API key: no response contains the secret of a key', async () => {
  const browser = await service.signedIn('speaker@example.com');
  const { secret } = await browser.createKey();
  const session = await browser.post<AsrSession>('/playground/session', { model: KIKUYU });
  expect(session.status).toBe(201);
  expect(session.body.websocket_protocols[1]).toMatch(/^svc\.auth\./);
  const answers = await Promise.all(
    ['/me', '/keys', '/overview', '/settings', '/data'].map((path) => browser.get(path)),
  );
  const said = JSON.stringify([session.body, ...answers.map(({ body }) => body)]);
  expect(said).not.toContain(secret);
  expect(said).not.toMatch(/svc_live_v1_[0-9A-Za-z]{13}/);
  expect(service.logged()).not.toContain(session.body.websocket_protocols[1]);
});

test('limits signed-in people too, with Retry-After', async () => {
  const browser = await service.signedIn('eager@example.com');
  let refused: Awaited<ReturnType<typeof browser.get>> | undefined;
  // The limit allows more again while a slow machine sends them.
  await eventually(async () => {
    const answers = await Promise.all(Array.from({ length: 150 }, () => browser.get('/me')));
    refused = answers.find(({ status }) => status === 429);
    return refused !== undefined;
  }, 60_000);
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('the console role of the database can neither write balances nor read hashes of keys', async () => {
  const db = service.database.as('svc_console');
  const forbidden = [
    'update accounts set available_ms = 1',
    'select hmac from api_keys',
    'select * from sign_in_codes',
    'update console_users set is_operator = true',
    `select grant_credit(gen_random_uuid(), 1, 'x', 'x', gen_random_uuid())`,
    'delete from sessions',
  ];
  for (const statement of forbidden) {
    await expect(db.query(statement)).rejects.toThrow('permission denied');
  }
});
