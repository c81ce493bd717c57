import type { DeviceList } from '@svc-asr/protocol/console/console.ts';
import { afterAll, expect, test } from 'vitest';
import { startConsoleService, TestBrowser } from '../support/console/console-service.ts';

const service = await startConsoleService();
afterAll(() => service.stop());

/** Signs the person in with another browser. */
async function alsoIn(email: string, userAgent: string): Promise<TestBrowser> {
  const browser = new TestBrowser(service.url);
  const asked = await browser.post<{ challenge: string }>('/sign-in/code', {
    email,
    language: 'en',
  });
  const code = await service.mail.takeCode(email);
  const agent = { 'user-agent': userAgent };
  await browser.post('/sign-in/verify', { ...asked.body, code }, agent);
  return browser;
}

const PHONE = 'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36';

test('lists the browsers of a person, this one first, and keeps no User-Agent', async () => {
  const desk = await service.signedIn('two@example.com');
  const phone = await alsoIn('two@example.com', PHONE);
  const { body } = await phone.get<DeviceList>('/devices');
  expect(body.data).toMatchObject([
    { client: 'Chrome 141', system: 'Android', verified_by: 'code', current: true },
    { system: null, current: false },
  ]);
  expect((await desk.get<DeviceList>('/devices')).body.data).toHaveLength(2);
  const { rows } = await service.database.pool.query<{ row: string }>(
    'select row_to_json(s)::text as row from console_sessions s',
  );
  expect(rows.map(({ row }) => row).join()).not.toContain('AppleWebKit');
});

test('ends one other session of the person, and no other', async () => {
  const desk = await service.signedIn('end@example.com');
  const phone = await alsoIn('end@example.com', PHONE);
  const { body } = await desk.get<DeviceList>('/devices');
  const other = body.data.find(({ current }) => !current);
  const answer = await desk.post<DeviceList>(`/devices/${other?.id}/sign-out`);
  expect(answer.body.data.map(({ current }) => current)).toEqual([true]);
  expect((await phone.get('/me')).status).toBe(401);
  expect((await desk.get('/me')).status).toBe(200);
});

test("neither lists nor ends another person's session, also in the same account", async () => {
  const owner = await service.signedIn('owner@example.com');
  const member = await service.joined(owner, { email: 'member@example.com', role: 'member' });
  const { body } = await member.get<DeviceList>('/devices');
  expect(body.data).toHaveLength(1);
  const answer = await owner.post(`/devices/${body.data[0]?.id}/sign-out`);
  expect(answer.status).toBe(404);
  expect((await member.get('/me')).status).toBe(200);
});

test('needs a sign-in, and never shows a session that has ended', async () => {
  const visitor = new TestBrowser(service.url);
  expect((await visitor.get('/devices')).status).toBe(401);
  const browser = await service.signedIn('idle@example.com');
  await alsoIn('idle@example.com', PHONE);
  await service.database.pool.query(
    `update console_sessions set last_seen_at = clock_timestamp() - interval '25 hours' where system = 'Android'`,
  );
  const systems = async () =>
    (await browser.get<DeviceList>('/devices')).body.data.map(({ system }) => system);
  expect(await systems()).toEqual([null]);
  await service.database.pool.query(
    `update console_sessions set last_seen_at = clock_timestamp(), expires_at = clock_timestamp() where system = 'Android'`,
  );
  expect(await systems()).toEqual([null]);
});
