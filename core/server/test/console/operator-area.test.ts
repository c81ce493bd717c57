import { randomUUID } from 'node:crypto';
import type { AsrSession, ErrorBody } from '@svc-asr/protocol';
import type {
  AuditLogPage,
  Decisions,
  FailurePage,
  LedgerAuditPage,
  LivePage,
  NodePage,
  OperatorAccountPage,
  OperatorAccountReport,
  OperatorSessionReport,
  OperatorStart,
  WaitlistPage,
} from '@svc-asr/protocol/console/operator.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { joinWaitlist } from '../../src/accounts/waitlist.ts';
import { runAdmin } from '../../src/admin/program.ts';
import { readInvariants } from '../../src/ledger/reports/audit.ts';
import { inTransaction } from '../../src/platform/database/db.ts';
import { serviceVersion } from '../../src/platform/service-version.ts';
import { activate } from '../support/activate.ts';
import { startOperator, type Operator } from '../support/console/console-operator.ts';
import { startConsoleService, TestBrowser } from '../support/console/console-service.ts';

const SPOKEN = 'maneno ya siri';
const service = await startConsoleService({ script: { texts: [SPOKEN] } });
afterAll(() => service.stop());
const db = service.database.pool;
let operator: Operator;
beforeAll(async () => {
  operator = await startOperator(service, 'operator@example.com');
});

async function waiting(email: string): Promise<string> {
  await joinWaitlist(db, { email, name: '', purpose: '' });
  const { rows } = await db.query<{ id: string }>('select id from waitlist where email = $1', [
    email,
  ]);
  return rows[0]?.id ?? '';
}

async function report(accountId: string): Promise<OperatorAccountReport> {
  const path = `/operator/accounts/${accountId}`;
  return (await operator.browser.get<OperatorAccountReport>(path)).body;
}

/** The code of an error, or the status. */
async function change(path: string, body: unknown, browser = operator.browser) {
  const { status, body: answer } = await browser.post<Partial<ErrorBody>>(path, body);
  return answer.error?.code ?? status;
}

async function reserve(browser: TestBrowser): Promise<AsrSession> {
  const limit = { model: KIKUYU, max_audio_seconds: 10 };
  return (await browser.post<AsrSession>('/playground/session', limit)).body;
}

/** Streams two seconds, and waits until the stream is described. */
async function stream(browser: TestBrowser): Promise<string> {
  const session = await reserve(browser);
  const client = await StreamClient.ready(session, { url: service.streamUrl });
  client.send(speech({ samples: 32_000 }));
  client.say({ type: 'flush' });
  await client.next('final');
  await client.close();
  const described = 'select from session_details where session_id = $1';
  await eventually(async () => (await db.query(described, [session.id])).rowCount === 1);
  return session.id;
}

async function audit(...words: readonly string[]): Promise<void> {
  await runAdmin(['audit', ...words], {
    env: { DATABASE_URL: service.database.url },
    devFolder: '/nowhere',
    out: () => undefined,
    err: () => undefined,
  });
}

/** The ids of all pages of a list. */
async function all(path: string): Promise<string[]> {
  const found: string[] = [];
  for (let after = ''; ;) {
    const { body } = await operator.browser.get<OperatorAccountPage | WaitlistPage>(path + after);
    found.push(...body.data.map(({ id }) => id));
    if (body.next === null) return found;
    expect(body.data).toHaveLength(50);
    after = `${path.includes('?') ? '&' : '?'}after=${body.next}`;
  }
}

async function ledgerAudits(): Promise<LedgerAuditPage['data']> {
  return (await operator.browser.get<LedgerAuditPage>('/operator/ledger')).body.data;
}

const ID = randomUUID();
const READS = [
  '/operator/start',
  '/operator/waitlist',
  '/operator/accounts',
  `/operator/accounts/${ID}`,
  '/operator/requests',
  '/operator/live',
  '/operator/nodes',
  '/operator/failures',
  `/operator/sessions/${ID}`,
  '/operator/ledger',
  '/operator/audit-log',
];
const reason = 'because';
const CHANGES: [string, unknown][] = [
  ['/operator/waitlist/approve', { ids: [ID], credit_minutes: 1, reason }],
  ['/operator/waitlist/decline', { ids: [ID], reason }],
  [`/operator/accounts/${ID}/suspend`, { reason }],
  [`/operator/accounts/${ID}/resume`, { reason }],
  [`/operator/accounts/${ID}/concurrency`, { limit: 2, reason }],
  [`/operator/accounts/${ID}/grant`, { id: ID, minutes: 1, reason }],
  [`/operator/requests/${ID}/decide`, { minutes: 1, reason }],
];

test('owners and members get 404 everywhere, strangers 401, and operators without a passkey 403', async () => {
  const owner = await service.signedIn('owner@example.com');
  const member = await service.joined(owner, { email: 'member@example.com', role: 'member' });
  const stranger = new TestBrowser(service.url);
  const browsers = [owner, member, stranger, operator.withCode];
  const expected = ['not_found', 'not_found', 'not_signed_in', 'passkey_required'];
  for (const path of READS) {
    const answers = browsers.map((browser) => browser.get<ErrorBody>(path));
    const codes = (await Promise.all(answers)).map(({ body }) => body.error.code);
    expect([path, codes]).toEqual([path, expected]);
  }
  for (const [path, body] of CHANGES) {
    const answers = browsers.map((browser) => change(path, body, browser));
    expect([path, await Promise.all(answers)]).toEqual([path, expected]);
  }
});

test('changes about unknown things are not found, and need a recent use of the passkey', async () => {
  await operator.confirm();
  for (const [path, body] of CHANGES) {
    expect([path, await change(path, body)]).toEqual([path, 'not_found']);
  }
  await db.query(`update console_sessions set confirmed_at = confirmed_at - interval '6 minutes'`);
  const unconfirmed = CHANGES.filter(([path]) => !path.endsWith('/decline'));
  for (const [path, body] of unconfirmed) {
    expect([path, await change(path, body)]).toEqual([path, 'confirm_first']);
  }
});

test('every change of an account needs a reason without control characters', async () => {
  for (const [path, body] of CHANGES.filter(([path]) => /accounts|decide/.test(path))) {
    for (const wrong of ['', '  ', 'a\u001b[2Jb', 'a\nb', 'x'.repeat(301)]) {
      const said = await change(path, { ...Object(body), reason: wrong });
      expect([path, wrong, said]).toEqual([path, wrong, 'invalid_parameter']);
    }
  }
});

test('several requests are approved at once, each for itself, with one amount and reason', async () => {
  await operator.confirm();
  const emails = ['bulk-1@example.com', 'bulk-2@example.com', 'bulk-3@example.com'];
  const ids = await Promise.all(emails.map(waiting));
  const declined = { ids: [ids[1]], reason: 'a robot' };
  expect(await change('/operator/waitlist/decline', declined)).toBe(200);
  const body = { ids, credit_minutes: 7, reason: 'pilot in Kisumu' };
  const { body: answer } = await operator.browser.post<Decisions>(
    '/operator/waitlist/approve',
    body,
  );
  expect(answer.data.map(({ outcome }) => outcome)).toEqual(['done', 'not_found', 'done']);
  const approved = await report(await service.accountOf('bulk-1@example.com'));
  expect(approved.account).toMatchObject({ available_ms: 420_000, granted_ms: 420_000 });
  for (const [status, email, why] of [
    ['approved', 'bulk-3@example.com', 'pilot in Kisumu'],
    ['declined', 'bulk-2@example.com', 'a robot'],
  ]) {
    const path = `/operator/waitlist?status=${status}`;
    const page = (await operator.browser.get<WaitlistPage>(path)).body;
    expect(page.data.find((entry) => entry.email === email)).toMatchObject({
      reason: why,
      decided_by: 'operator@example.com',
    });
  }
  const { rows } = await db.query<{ reason: string }>(
    `select after ->> 'reason' as reason from audit_log where action = 'waitlist.changed' and target = any ($1)
      order by 1`,
    [ids],
  );
  expect(rows.map((row) => row.reason)).toEqual(['a robot', 'pilot in Kisumu', 'pilot in Kisumu']);
});

test('lists have pages that miss and repeat nothing', async () => {
  await db.query(
    `insert into waitlist (id, email, created_at)
      select gen_random_uuid(), 'page-' || n || '@example.com', clock_timestamp() from generate_series(1, 60) n`,
  );
  await db.query(
    `insert into accounts (id, name) select gen_random_uuid(), 'paged ' || n from generate_series(1, 60) n`,
  );
  const counted = async (sql: string) => (await db.query(sql)).rows[0]?.count;
  const entries = await all('/operator/waitlist');
  expect(new Set(entries).size).toBe(entries.length);
  expect(entries).toHaveLength(
    await counted(`select count(*) from waitlist where status = 'waiting'`),
  );
  const accounts = await all('/operator/accounts?search=paged');
  expect(new Set(accounts).size).toBe(60);
});

test('an account shows its balance, use and failures, and a grant is made once', async () => {
  const owner = await service.signedIn('busy@example.com');
  const accountId = await service.accountOf('busy@example.com');
  await stream(owner);
  const failing = await reserve(owner);
  const close = await activate(service, { sessionId: failing.id, accountId });
  await close({ status: 'failed', samples: 16_000 });
  await reserve(owner);
  const before = (await report(accountId)).account;
  expect(before).toMatchObject({
    available_ms: 3_600_000 - 2_000 - 10_000,
    reserved_ms: 10_000,
    day_ms: 2_000,
    week_ms: 2_000,
    failed: 1,
    live: 1,
    concurrency_limit: 1,
  });
  await operator.confirm();
  const grant = { id: randomUUID(), minutes: 5, reason: 'invoice 2027-014' };
  const path = `/operator/accounts/${accountId}`;
  const grants = [change(`${path}/grant`, grant), change(`${path}/grant`, grant)];
  expect(await Promise.all(grants)).toEqual([200, 200]);
  expect(await change(`${path}/concurrency`, { limit: 3, reason: 'two lines' })).toBe(200);
  const after = (await report(accountId)).account;
  expect(after).toMatchObject({
    available_ms: before.available_ms + 300_000,
    concurrency_limit: 3,
  });
  const log = await operator.browser.get<AuditLogPage>(`/operator/audit-log?account=${accountId}`);
  const [limit, credit] = log.body.data;
  expect(credit).toMatchObject({ action: 'credit.grant', actor: 'operator@example.com' });
  expect(credit?.after).toContain('invoice 2027-014');
  expect(limit).toMatchObject({ action: 'account.changed', source: '127.0.0.1' });
  expect(limit?.after).toContain('two lines');
});

test('the charge of a day leaves out what was charged before', async () => {
  const owner = await service.signedIn('yesterday@example.com');
  const accountId = await service.accountOf('yesterday@example.com');
  const old = await stream(owner);
  await stream(owner);
  await inTransaction(db, async (owned) => {
    await owned.query('set local session_replication_role = replica');
    await owned.query(
      `update txn set created_at = created_at - interval '25 hours'
        where account_id = $1 and (session_id = $2 or kind = 'grant')`,
      [accountId, old],
    );
  });
  expect((await report(accountId)).account).toMatchObject({ day_ms: 2_000, week_ms: 4_000 });
});

test('grants, approvals and requests share the 100 hours a day of an operator', async () => {
  const spender = await startOperator(service, 'spender@example.com');
  const accountId = await service.admit('spoilt@example.com');
  const give = (minutes: number) =>
    change(
      `/operator/accounts/${accountId}/grant`,
      { id: randomUUID(), minutes, reason: 'test' },
      spender.browser,
    );
  for (let at = 0; at < 9; at += 1) expect(await give(600)).toBe(200);
  const entry = {
    ids: [await waiting('first-credit@example.com')],
    credit_minutes: 600,
    reason: '',
  };
  expect(await change('/operator/waitlist/approve', entry, spender.browser)).toBe(200);
  expect(await give(1)).toBe('credit_limit_reached');
  expect(await give(601)).toBe('invalid_parameter');
  const more = { ids: [await waiting('too-late@example.com')], credit_minutes: 1, reason: '' };
  expect(await change('/operator/waitlist/approve', more, spender.browser)).toBe(
    'credit_limit_reached',
  );
});

test('live streams are listed by node and account, and their session without text', async () => {
  const owner = await service.signedIn('speaker@example.com');
  const session = await reserve(owner);
  const client = await StreamClient.ready(session, { url: service.streamUrl });
  client.send(speech({ samples: 16_000 }));
  const accountId = await service.accountOf('speaker@example.com');
  const path = `/operator/live?account=${accountId}`;
  const live = await operator.browser.until<LivePage>(
    path,
    ({ data }) => data[0]?.audio_ms === 1_000,
  );
  expect(live.data).toMatchObject([
    { id: session.id, account_name: 'speaker@example.com', status: 'active', reserved_ms: 10_000 },
  ]);
  const nodeId = live.data[0]?.node_id;
  expect(live.by_account).toContainEqual({
    id: accountId,
    name: 'speaker@example.com',
    streams: 1,
  });
  expect(live.by_node.find(({ id }) => id === nodeId)?.streams).toBeGreaterThan(0);
  const elsewhere = await operator.browser.get<LivePage>('/operator/live?node=elsewhere');
  expect(elsewhere.body.data).toEqual([]);
  client.say({ type: 'flush' });
  await client.next('final');
  await client.close();

  const described = 'select from session_details where session_id = $1';
  await eventually(async () => (await db.query(described, [session.id])).rowCount === 1);
  const shown = await operator.browser.get<OperatorSessionReport>(
    `/operator/sessions/${session.id}`,
  );
  expect(shown.body).toMatchObject({ account_id: accountId, status: 'completed', node_id: nodeId });
  expect(JSON.stringify(shown.body)).not.toContain(SPOKEN);

  await db.query('update session_details set delta_lag_p95_ms = 420 where session_id = $1', [
    session.id,
  ]);
  const { body: nodes } = await operator.browser.get<NodePage>('/operator/nodes');
  expect(nodes.data.find(({ id }) => id === nodeId)).toMatchObject({
    state: 'live',
    version: serviceVersion(),
    lag_ms: 420,
  });
});

test('failures are counted by cause, and lead to their sessions', async () => {
  const owner = await service.signedIn('unlucky@example.com');
  const accountId = await service.accountOf('unlucky@example.com');
  const fail = async (): Promise<string> => {
    const { id } = await reserve(owner);
    const close = await activate(service, { sessionId: id, accountId });
    await close({ status: 'failed', samples: 0 });
    return id;
  };
  const lost = await fail();
  const told = await fail();
  await db.query(
    `insert into session_details (account_id, session_id, request_id, ended_ms, finals, close_code, close_reason,
        gaps, longest_gap_ms, hints)
      values ($1, $2, gen_random_uuid(), 1, 0, 1011, 'recogniser_failed', 0, 0, '{}')`,
    [accountId, told],
  );
  const read = async (query: string) =>
    (await operator.browser.get<FailurePage>(`/operator/failures?account=${accountId}${query}`))
      .body;
  const page = await read('');
  expect(page.data.map(({ id, cause }) => [id, cause])).toEqual([
    [told, 'recogniser_failed'],
    [lost, 'node_lost'],
  ]);
  expect(page.causes).toContainEqual(
    expect.objectContaining({ cause: 'recogniser_failed', sessions: 1, accounts: 1, nodes: 1 }),
  );
  expect((await read('&cause=node_lost')).data.map(({ id }) => id)).toEqual([lost]);
  expect((await read('&node=elsewhere')).data).toEqual([]);
});

test('the ledger page shows every invariant, and the last run of svc-admin audit', async () => {
  const invariants = (await readInvariants()).map(({ name }) => name);
  const before = await ledgerAudits();
  expect(before.map(({ invariant }) => invariant).toSorted()).toEqual(invariants);
  expect(before.every(({ ran_at }) => ran_at === null)).toBe(true);
  // The backdated transactions of another test are in order, so the invariants hold.
  await audit('--safety');
  const safety = await ledgerAudits();
  expect(safety.filter(({ ran_at }) => ran_at === null).map(({ invariant }) => invariant)).toEqual(
    invariants.filter((name) => name.startsWith('liveness-')),
  );
  await db.query(
    `insert into ledger_audits values ('no-longer-checked', 'x', clock_timestamp(), 1, 0)`,
  );
  await audit();
  const after = await ledgerAudits();
  expect(after.map(({ invariant }) => invariant).toSorted()).toEqual(invariants);
  expect(after.every(({ ran_at }) => ran_at !== null)).toBe(true);
});

test('the audit log has pages, and entries without an account', async () => {
  const seen: number[] = [];
  for (let before = ''; ;) {
    const path = `/operator/audit-log${before}`;
    const { body, headers } = await operator.browser.get<AuditLogPage>(path, {
      'accept-encoding': 'gzip',
    });
    seen.push(...body.data.map(({ id }) => id));
    expect(headers.get('vary')).toBe('accept-encoding');
    if (body.next === null) break;
    before = `?before=${body.next}`;
  }
  const { rows } = await db.query<{ count: number }>('select count(*) from audit_log');
  expect(seen).toHaveLength(rows[0]?.count ?? 0);
  expect(seen).toEqual(seen.toSorted((a, b) => b - a));
});

test('the start page counts the streams of a day once a minute, however often it is opened', async () => {
  const { body: first } = await operator.browser.get<OperatorStart>('/operator/start');
  await stream(await service.signedIn('counted@example.com'));
  const { body: second } = await operator.browser.get<OperatorStart>('/operator/start');
  expect(second.day).toEqual(first.day);
});

test('the number of live streams includes those of accounts that are not listed', async () => {
  const { body: before } = await operator.browser.get<LivePage>('/operator/live');
  for (let at = 0; at < 51; at += 1) {
    await service.deps.ledger.reserve({
      accountId: await service.admit(`live${at}@example.com`),
      keyId: null,
      model: KIKUYU,
      idempotencyKey: null,
      requestedMs: 10_000,
      node: { id: service.config.nodeId, url: service.config.publicStreamUrl },
    });
  }
  const { body: after } = await operator.browser.get<LivePage>('/operator/live');
  expect(after.by_account).toHaveLength(50);
  expect(after.total).toBe(before.total + 51);
});
