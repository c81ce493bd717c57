import { awayFromMidnight } from '@svc-asr/testing/away-from-midnight.ts';
import { randomUUID } from 'node:crypto';
import type { AsrSession } from '@svc-asr/protocol';
import type { Overview } from '@svc-asr/protocol/console/console.ts';
import { OUTCOME_FILTERS, outcomesOf } from '@svc-asr/protocol/console/outcome.ts';
import type { SessionPage, SessionReport } from '@svc-asr/protocol/console/sessions.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { DHOLUO, KIKUYU } from '@svc-asr/testing/service/service.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, expect, test } from 'vitest';
import { listSessionsOf } from '../../src/ledger/reports/session-list.ts';
import { startConsoleService, type TestBrowser } from '../support/console/console-service.ts';

const SPOKEN = 'maneno ya siri';
const service = await startConsoleService({ script: { texts: [SPOKEN] } });
afterAll(() => service.stop());
const db = service.database.pool;

async function open(browser: TestBrowser, model: string = KIKUYU): Promise<AsrSession> {
  const limit = { model, max_audio_seconds: 10 };
  return (await browser.post<AsrSession>('/playground/session', limit)).body;
}

/** Streams a little audio and waits until the session is settled and described. */
async function stream(
  browser: TestBrowser,
  input: { model?: string; headers?: Record<string, string>; audio?: Buffer } = {},
): Promise<{ id: string; requestId: string }> {
  const session = await open(browser, input.model);
  const { headers = {} } = input;
  const client = await StreamClient.ready(session, { url: service.streamUrl, headers });
  client.send(input.audio ?? speech({ samples: 24_000 }));
  client.say({ type: 'flush' });
  await client.next('final');
  await client.close();
  await browser.until<SessionReport>(`/sessions/${session.id}`, (report) => report.stream !== null);
  return { id: session.id, requestId: String(client.requestId) };
}

test('explains a session from its reservation to its settlement, without text', async () => {
  const browser = await service.signedIn('report@example.com');
  const wav = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVEfmt '), speech({ samples: 24_000 })]);
  const agent = 'Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36';
  const headers = { 'user-agent': agent, origin: 'https://app.example.com' };
  const { id, requestId } = await stream(browser, { headers, audio: wav });
  const { body } = await browser.get<SessionReport>(`/sessions/${id}`);
  expect(body).toMatchObject({
    id,
    status: 'completed',
    request_id: requestId,
    origin: 'https://app.example.com',
    client: 'Chrome 141',
    node_id: service.config.nodeId,
    close_code: 1000,
    close_reason: 'completed',
    audio_ms: 1_501,
    billable_ms: 2_000,
    key_id: null,
  });
  expect(body.stream).toMatchObject({ finals: 1, gaps: 0 });
  expect(body.stream?.hints).toContain('suspicious_audio');
  expect(body.stream?.audio_hint).toContain('WAV');
  const steps = body.stream;
  expect(steps?.ready_ms).toBeLessThanOrEqual(steps?.first_final_ms ?? -1);
  expect(steps?.last_final_ms).toBeLessThanOrEqual(steps?.ended_ms ?? -1);
  expect(body.transactions.map(({ kind, consumed_ms }) => [kind, consumed_ms])).toEqual([
    ['reserve', 0],
    ['complete', 2_000],
  ]);
  expect(body.transactions.map(({ available_after_ms }) => available_after_ms)).toEqual([
    3_590_000, 3_598_000,
  ]);
  const stored = await db.query('select d::text from session_details d');
  expect(JSON.stringify([body, stored.rows])).not.toContain('siri');
  expect(JSON.stringify(stored.rows)).not.toContain('AppleWebKit');
});

test('filters by model, status, origin, key and day, and finds session and request ids', async () => {
  await awayFromMidnight();
  const browser = await service.signedIn('filters@example.com');
  const kikuyu = await stream(browser, { headers: { origin: 'https://one.example.com' } });
  const dholuo = await stream(browser, { model: DHOLUO });
  const waiting = await open(browser);
  const ids = async (query: string): Promise<string[]> => {
    const answer = await browser.get<SessionPage>(`/sessions?${query}`);
    return answer.body.data.map(({ id }) => id);
  };
  const all = [waiting.id, dholuo.id, kikuyu.id];
  expect(await ids('')).toEqual(all);
  expect(await ids(`model=${DHOLUO}`)).toEqual([dholuo.id]);
  expect(await ids('status=reserved')).toEqual([waiting.id]);
  expect(await ids('origin=https%3A%2F%2Fone.example.com')).toEqual([kikuyu.id]);
  expect(await ids('origin=none')).toEqual([dholuo.id]);
  expect(await ids('key=none')).toEqual(all);
  expect(await ids('key=abcdefghijkl')).toEqual([]);
  expect(await ids(`id=${kikuyu.id}`)).toEqual([kikuyu.id]);
  expect(await ids(`id=${dholuo.requestId}`)).toEqual([dholuo.id]);
  const today = new Date().toISOString().slice(0, 10);
  expect(await ids(`from=${today}&to=${today}`)).toEqual(all);
  // A day begins three hours earlier in Nairobi.
  const nairobi = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10);
  const day = encodeURIComponent(`${nairobi}T00:00:00+03:00`);
  expect(await ids(`from=${day}&to=${day}`)).toEqual(all);
  expect(await ids(`to=${encodeURIComponent('2026-01-01T00:00:00+03:00')}`)).toEqual([]);
  expect((await browser.get(`/sessions?from=${nairobi}T00:00`)).status).toBe(400);
  expect(await ids('to=2026-01-01')).toEqual([]);
  expect(await ids('from=2099-01-01')).toEqual([]);
  expect((await browser.get('/sessions?status=drunk')).status).toBe(400);
  expect((await browser.get('/sessions?id=no-uuid')).status).toBe(400);
});

test('tells an error of the client from a normal end, in the list, its filter, the file and the overview', async () => {
  const browser = await service.signedIn('outcomes@example.com');
  const good = await stream(browser);
  const session = await open(browser);
  const client = await StreamClient.ready(session, { url: service.streamUrl });
  client.send(speech({ samples: 16_016 }));
  client.say({ type: 'flush' });
  await client.next('final');
  client.send(Buffer.alloc(65_537));
  const path = `/sessions/${session.id}`;
  const report = await browser.until<SessionReport>(path, ({ stream }) => stream !== null);
  expect(report).toMatchObject({
    status: 'completed',
    outcome: 'error',
    cause: 'message_too_large',
    close_code: 1009,
  });
  const lost = await open(browser, DHOLUO);
  const accountId = await service.accountOf('outcomes@example.com');
  const { nodeId } = service.config;
  const claim = { sessionId: lost.id, accountId, nodeId, nodeEpoch: 1, upgradeId: randomUUID() };
  await service.deps.ledger.claim(claim);
  await service.deps.ledger.close({ ...claim, status: 'failed', samples: 0 });
  for (const filter of OUTCOME_FILTERS) {
    const { body } = await browser.get<SessionPage>(`/sessions?status=${filter}`);
    const found = outcomesOf(filter);
    // The filter and the function that shows the outcome agree.
    for (const { outcome } of body.data) expect(found).toContain(outcome);
    const ids = new Set(body.data.map(({ id }) => id));
    expect(ids.has(session.id)).toBe(found.includes('error'));
    expect(ids.has(good.id)).toBe(found.includes('completed'));
    expect(ids.has(lost.id)).toBe(found.includes('failed'));
  }
  const file = await browser.csv('/sessions.csv?status=problem');
  expect(file).toContain(',completed,error,');
  expect(file).toContain(',1009,message_too_large,message_too_large');
  expect(file).toContain(',failed,failed,');
  expect(file).toMatch(/,node_lost\r\n/);
  const overview = await browser.get<Overview>('/overview');
  const outcomes = overview.body.sessions.map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['failed', 'error', 'completed']);
});

test('pages have every session once, with and without a filter', async () => {
  const browser = await service.signedIn('pages@example.com');
  const accountId = await service.accountOf('pages@example.com');
  const made: string[] = [];
  for (let at = 0; at < 7; at += 1) {
    const session = await open(browser);
    const client = await StreamClient.ready(session, { url: service.streamUrl });
    await client.close();
    made.unshift(session.id);
  }
  const filter = { accountId, from: null, until: null, model: null, keyId: null, origin: null };
  for (const outcomes of [null, ['completed']] as const) {
    const seen: string[] = [];
    let before: number | null = null;
    do {
      const page = await listSessionsOf(db, { ...filter, outcomes }, { before, limit: 3 });
      seen.push(...page.sessions.map(({ id }) => id));
      before = page.next;
    } while (before !== null);
    expect(seen).toEqual(made);
  }
});

test('shows nothing of other accounts, and nothing to people without an account or sign-in', async () => {
  const owner = await service.signedIn('sessions-owner@example.com');
  const member = await service.joined(owner, { email: 'sm@example.com', role: 'member' });
  const other = await service.signedIn('sessions-other@example.com');
  const { id, requestId } = await stream(owner);
  expect((await member.get<SessionPage>('/sessions')).body.data).toHaveLength(1);
  expect((await member.get(`/sessions/${id}`)).status).toBe(200);
  expect((await other.get(`/sessions/${id}`)).status).toBe(404);
  for (const query of ['', `?id=${id}`, `?id=${requestId}`]) {
    expect((await other.get<SessionPage>(`/sessions${query}`)).body.data).toEqual([]);
  }
  expect(await other.csv('/sessions.csv')).not.toContain(id);
  expect(await member.csv('/sessions.csv')).toContain(id);
  await db.query(`delete from memberships m using console_users u
    where u.id = m.user_id and u.email = 'sm@example.com'`);
  owner.cookie = '';
  for (const path of ['/sessions', `/sessions/${id}`, '/sessions.csv']) {
    expect((await owner.get(path)).status).toBe(401);
    expect([401, 403]).toContain((await member.get(path)).status);
  }
});

test('a downloaded list has no cell that a spreadsheet would run', async () => {
  const browser = await service.signedIn('csv@example.com');
  const name = '=HYPERLINK("https://evil.example","a, b")';
  const { key, secret } = await browser.createKey('plain');
  await db.query('update api_keys set name = $1 where id = $2', [name, key.id]);
  const authorization = `Bearer ${secret}`;
  const created = await service.request('/v1/asr/sessions', {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ model: KIKUYU }),
  });
  expect(created.status).toBe(201);
  const lines = (await browser.csv('/sessions.csv?status=reserved')).split('\r\n');
  expect(lines[0]).toMatch(/^\uFEFFsession_id,created_at,/);
  expect(lines[1]).toContain(`,"'=HYPERLINK(""https://evil.example"",""a, b"")",`);
  expect(lines.slice(1).join('\n')).not.toMatch(/(^|,|\n)"?[=+@-]/);
});

test('a database that refuses the details changes no charge, and they are counted as dropped', async () => {
  const browser = await service.signedIn('dropped@example.com');
  await db.query('alter table session_details rename to hidden_details');
  const session = await open(browser);
  const client = await StreamClient.ready(session, { url: service.streamUrl });
  client.send(speech({ samples: 16_000 }));
  await client.close();
  const dropped = () => service.deps.metrics.registry.getMetricsAsJSON();
  await eventually(async () => {
    const metric = (await dropped()).find(({ name }) => name.endsWith('details_dropped_total'));
    return metric?.values[0]?.value === 1;
  });
  await db.query('alter table hidden_details rename to session_details');
  const { body } = await browser.get<SessionReport>(`/sessions/${session.id}`);
  expect(body).toMatchObject({ status: 'completed', billable_ms: 1_000, stream: null });
});

test('details are deleted after 30 days and with the account', async () => {
  const browser = await service.signedIn('details-gone@example.com');
  const first = await stream(browser);
  const second = await stream(browser);
  await db.query(
    `update session_details set recorded_at = recorded_at - interval '31 days' where session_id = $1`,
    [first.id],
  );
  await service.database.as('svc_console').query('select forget_session_details(100)');
  const left = async () => {
    const ids = [first.id, second.id];
    const { rows } = await db.query<{ session_id: string }>(
      'select session_id from session_details where session_id = any ($1)',
      [ids],
    );
    return rows.map(({ session_id }) => session_id);
  };
  expect(await left()).toEqual([second.id]);
  await browser.post('/erase', { confirm_email: 'details-gone@example.com' });
  expect(await left()).toEqual([]);
});
