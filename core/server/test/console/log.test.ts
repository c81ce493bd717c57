import { awayFromMidnight } from '@svc-asr/testing/away-from-midnight.ts';
import type { AsrSession } from '@svc-asr/protocol';
import type { LoggedCall, LogPage } from '@svc-asr/protocol/console/log.ts';
import type { SessionPage, SessionReport } from '@svc-asr/protocol/console/sessions.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';
import { refused, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, expect, test } from 'vitest';
import { inTransaction } from '../../src/platform/database/db.ts';
import { startConsoleService, type TestBrowser } from '../support/console/console-service.ts';

const service = await startConsoleService();
afterAll(() => service.stop());
const db = service.database.pool;

const CALL = {
  requestId: '00000000-0000-4000-8000-000000000001',
  method: 'GET',
  route: '/v1/usage',
  status: 429,
  code: 'request_rate_exceeded',
  detail: null,
  keyId: 'abcdefghijkl',
  sessionId: null,
  tookMs: 1,
} as const;

interface Answer {
  readonly status: number;
  readonly requestId: string;
  readonly session: AsrSession;
}

async function create(secret: string, body: unknown = { model: KIKUYU }): Promise<Answer> {
  const answer = await service.request<AsrSession>('/v1/asr/sessions', {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { status, body: session } = answer;
  return { status, requestId: answer.headers.get('x-request-id') ?? '', session };
}

/** Waits until the log has this many calls, and returns them. */
async function logOf(browser: TestBrowser, count: number, query = ''): Promise<LoggedCall[]> {
  const page = await browser.until<LogPage>(`/log${query}`, ({ data }) => data.length === count);
  return page.data;
}

test('lists calls and refused upgrades with their key, session and how to fix them', async () => {
  const browser = await service.signedIn('log@example.com');
  const { key, secret } = await browser.createKey('app');
  const invalid = await create(secret, { model: KIKUYU, max_audio_seconds: 'sixty "quoted"' });
  const created = await create(secret);
  const busy = await create(secret);
  expect([invalid.status, created.status, busy.status]).toEqual([400, 201, 429]);
  const stream = await StreamClient.ready(created.session, { url: service.streamUrl });
  const upgrade = await refused(service.streamUrl, created.session.websocket_protocols);
  await stream.close();
  const calls = await logOf(browser, 4);
  expect(calls.map(({ route, status, code }) => [route, status, code])).toEqual([
    ['/v1/asr/stream', 401, 'session_credential_used'],
    ['/v1/asr/sessions', 429, 'concurrency_limit_exceeded'],
    ['/v1/asr/sessions', 201, null],
    ['/v1/asr/sessions', 400, 'invalid_parameter'],
  ]);
  expect(calls.map(({ request_id }) => request_id)).toEqual([
    upgrade.body.error.request_id,
    busy.requestId,
    created.requestId,
    invalid.requestId,
  ]);
  expect(calls.map(({ key_id }) => key_id)).toEqual([key.id, key.id, key.id, key.id]);
  const { id } = created.session;
  expect(calls.map(({ session_id }) => session_id)).toEqual([id, null, id, null]);
  expect(calls[2]?.message).toBeNull();
  expect(calls[3]?.message).toContain('max_audio_seconds');
  for (const call of calls) {
    expect(Math.abs(Date.now() - Date.parse(call.at))).toBeLessThan(60_000);
    expect(call.took_ms).toBeLessThan(10_000);
  }
  const stored = await db.query('select c::text from api_calls c');
  const secretPart = secret.slice(secret.indexOf(key.id) + key.id.length + 1);
  expect(secretPart.length).toBeGreaterThan(20);
  expect(JSON.stringify([calls, stored.rows])).not.toContain(secretPart);
  expect(JSON.stringify([calls, stored.rows])).not.toContain('quoted');
  expect(await logOf(browser, 3, '?show=refused')).not.toContainEqual(calls[2]);
  expect(await logOf(browser, 1, `?id=${busy.requestId}`)).toEqual([calls[1]]);
  expect(await logOf(browser, 2, `?id=${id}`)).toEqual([calls[0], calls[2]]);
  expect((await browser.get('/log?show=drunk')).status).toBe(400);
  expect((await browser.get('/log?before=1')).status).toBe(400);

  const sessions = await browser.get<SessionPage>(`/sessions?id=${created.requestId}`);
  expect(sessions.body.data.map((session) => session.id)).toEqual([id]);
  const report = await browser.get<SessionReport>(`/sessions/${id}`);
  expect(report.body.created_request_id).toBe(created.requestId);
});

test('lists calls with a revoked key, and none with a wrong secret', async () => {
  const browser = await service.signedIn('revoked@example.com');
  const { key, secret } = await browser.createKey('old');
  expect((await create(secret)).status).toBe(201);
  const wrong = secret.slice(0, -1) + (secret.endsWith('A') ? 'B' : 'A');
  expect((await create(wrong)).status).toBe(401);
  await browser.post(`/keys/${key.id}/revoke`);
  await eventually(async () => (await create(secret)).status === 401);
  await browser.until<LogPage>('/log?show=refused', ({ data }) =>
    data.some(({ code, key_id }) => code === 'revoked_api_key' && key_id === key.id),
  );
  const { rows } = await db.query(`select 1 from api_calls where code = 'invalid_api_key'`);
  expect(rows).toEqual([]);
});

test('pages have every call once, and a flood becomes few lines', async () => {
  const browser = await service.signedIn('flood@example.com');
  const accountId = await service.accountOf('flood@example.com');
  const flood =
    'select count(*) as lines, sum(more + 1) as calls from api_calls where account_id = $1';
  // All in one turn of the event loop, so that they are written together.
  for (let at = 0; at < 5_000; at += 1) service.deps.calls.add({ ...CALL, accountId });
  await eventually(async () => (await db.query(flood, [accountId])).rows[0]?.calls === 5_000);
  expect((await db.query(flood, [accountId])).rows).toEqual([{ lines: 50, calls: 5_000 }]);

  const calls = Array.from({ length: 200 }, (_, ago_ms) => ({
    account_id: accountId,
    ago_ms,
    request_id: crypto.randomUUID(),
    method: 'GET',
    route: '/v1/usage',
    status: 200,
    took_ms: 1,
    more: 0,
  }));
  await db.query('select record_calls($1)', [JSON.stringify(calls)]);
  const seen: string[] = [];
  let next: string | null = null;
  for (let page = 0; page < 5; page += 1) {
    const query: string = next === null ? '' : `?before=${next}`;
    const { body } = await browser.get<LogPage>(`/log${query}`);
    seen.push(...body.data.map(({ request_id }) => request_id));
    next = body.next;
  }
  expect(next).toBeNull();
  expect(seen).toHaveLength(250);
  expect(seen.filter((id) => calls.some(({ request_id }) => request_id === id))).toEqual(
    calls.map(({ request_id }) => request_id),
  );
});

test('shows nothing of other accounts, and nothing to people without an account or sign-in', async () => {
  const owner = await service.signedIn('log-owner@example.com');
  const member = await service.joined(owner, { email: 'lm@example.com', role: 'member' });
  const other = await service.signedIn('log-other@example.com');
  const { secret } = await owner.createKey('app');
  const { requestId, session } = await create(secret);
  await logOf(owner, 1);
  expect(await logOf(member, 1)).toHaveLength(1);
  for (const query of ['', `?id=${requestId}`, `?id=${session.id}`]) {
    expect((await other.get<LogPage>(`/log${query}`)).body.data).toEqual([]);
  }
  expect((await other.get<SessionPage>(`/sessions?id=${requestId}`)).body.data).toEqual([]);
  expect(await other.csv('/log.csv')).not.toContain(requestId);
  expect(await member.csv('/log.csv')).toContain(requestId);
  await db.query(`delete from memberships m using console_users u
    where u.id = m.user_id and u.email = 'lm@example.com'`);
  owner.cookie = '';
  for (const path of ['/log', '/log.csv']) {
    expect((await owner.get(path)).status).toBe(401);
    expect([401, 403]).toContain((await member.get(path)).status);
  }
});

test('a downloaded log has no cell that a spreadsheet would run', async () => {
  const browser = await service.signedIn('log-csv@example.com');
  const { secret } = await browser.createKey('app');
  await create(secret);
  const [call] = await logOf(browser, 1);
  await db.query(
    `update api_calls set route = '=1+1', detail = E'+2\\n=3', code = '@x'
    where request_id = $1`,
    [call?.request_id],
  );
  const lines = (await browser.csv('/log.csv')).split('\r\n');
  expect(lines[0]).toMatch(/^\uFEFFat,request_id,/);
  expect(lines[1]).toContain(`,'=1+1,201,'@x,"'+2\n=3",`);
});

test('a database that refuses the log changes no response, and the calls are counted', async () => {
  const browser = await service.signedIn('log-dropped@example.com');
  const { secret } = await browser.createKey('app');
  await db.query('alter table api_calls rename to hidden_calls');
  expect((await create(secret)).status).toBe(201);
  await eventually(async () => {
    const metrics = await service.deps.metrics.registry.getMetricsAsJSON();
    const metric = metrics.find(({ name }) => name === 'svc_call_log_dropped_total');
    return metric?.values[0]?.value === 1;
  });
  await db.query('alter table hidden_calls rename to api_calls');
});

test('days are dropped after seven days, and the calls of an erased account at once', async () => {
  await awayFromMidnight();
  const browser = await service.signedIn('log-gone@example.com');
  const { secret } = await browser.createKey('app');
  const { requestId } = await create(secret);
  await logOf(browser, 1);
  const days = async (): Promise<number[]> => {
    const { rows } = await db.query<{ age: number }>(`
      select (now() at time zone 'UTC')::date - to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') as age
      from pg_inherits where inhparent = 'api_calls'::regclass order by age`);
    return rows.map(({ age }) => age);
  };
  for (const age of [5, 7, 8, 30]) {
    await db.query(`select create_calls_day((now() at time zone 'UTC')::date - $1::integer)`, [
      age,
    ]);
  }
  const { rows } = await inTransaction(service.database.as('svc_console'), async (client) => {
    // A plan that reads the names of all tables, as the planner chooses for larger catalogues.
    await client.query('set local enable_nestloop = off');
    return client.query('select forget_calls() as dropped');
  });
  expect(rows).toEqual([{ dropped: 2 }]);
  expect(await days()).toEqual(expect.arrayContaining([-1, 0, 5, 7]));
  expect(Math.max(...(await days()))).toBe(7);
  const stream = `select 1 from api_calls where request_id = $1`;
  expect((await db.query(stream, [requestId])).rows).toHaveLength(1);
  await db.query(`select expire_reservations(100)`);
  await db.query(`update sessions set expires_at = created_at where status = 'reserved'`);
  await db.query(`select expire_reservations(100)`);
  expect((await browser.post('/erase', { confirm_email: 'log-gone@example.com' })).status).toBe(
    200,
  );
  expect((await db.query(stream, [requestId])).rows).toEqual([]);
});
