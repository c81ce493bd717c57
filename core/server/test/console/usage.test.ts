import { awayFromMidnight } from '@svc-asr/testing/away-from-midnight.ts';
import type { Overview } from '@svc-asr/protocol/console/console.ts';
import type { UsageReport } from '@svc-asr/protocol/console/usage.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerNode } from '../../src/nodes/nodes.ts';
import {
  startConsoleService,
  TestBrowser,
  type ConsoleService,
} from '../support/console/console-service.ts';
import { DHOLUO, KIKUYU } from '@svc-asr/testing/service/service.ts';

let service: ConsoleService;
let nodeEpoch: number;
const NODE = 'node-of-this-test';
beforeAll(async () => {
  service = await startConsoleService();
  nodeEpoch = await registerNode(service.database.pool, {
    id: NODE,
    publicUrl: 'wss://node-1.example.com/v1/asr/stream',
    models: [KIKUYU, DHOLUO],
    capacity: 10,
  });
});
afterAll(() => service.stop());

async function speak(
  accountId: string,
  input: {
    model: typeof KIKUYU | typeof DHOLUO;
    samples: number;
    status?: 'completed' | 'failed';
    keyId?: string;
  },
): Promise<void> {
  const { ledger } = service.deps;
  const result = await ledger.reserve({
    accountId,
    keyId: input.keyId ?? null,
    model: input.model,
    requestedMs: 60_000,
    idempotencyKey: null,
    node: { id: NODE, url: 'wss://node-1.example.com/v1/asr/stream' },
  });
  if (result.outcome !== 'reserved') throw new Error(result.outcome);
  const claim = { sessionId: result.session.id, accountId, nodeId: NODE, nodeEpoch };
  await ledger.claim(claim);
  const status = input.status ?? 'completed';
  await ledger.close({ ...claim, status, samples: input.samples });
}

async function newAccount(email: string): Promise<{ accountId: string; browser: TestBrowser }> {
  const accountId = await service.admit(email);
  const browser = new TestBrowser(service.url);
  await browser.signIn(email, service.mail);
  return { accountId, browser };
}

test("usage per day and model equals the ledger's charges, however often it is read", async () => {
  await awayFromMidnight();
  const { accountId, browser } = await newAccount('usage@example.com');
  await speak(accountId, { model: KIKUYU, samples: 19_200 });
  await speak(accountId, { model: DHOLUO, samples: 16_000 });
  await speak(accountId, { model: DHOLUO, samples: 48_000, status: 'failed' });
  const first = await browser.get<Overview>('/overview');
  await speak(accountId, { model: KIKUYU, samples: 16_000 });
  const reads = await Promise.all(
    Array.from({ length: 5 }, () => browser.get<Overview>('/overview')),
  );
  const today = first.body.now.slice(0, 10);
  expect(first.body.days).toEqual([
    { date: today, model: DHOLUO, billable_ms: 1_000, sessions: 1 },
    { date: today, model: KIKUYU, billable_ms: 2_000, sessions: 1 },
  ]);
  for (const { body } of reads) {
    expect(body.days).toEqual([
      { date: today, model: DHOLUO, billable_ms: 1_000, sessions: 1 },
      { date: today, model: KIKUYU, billable_ms: 3_000, sessions: 2 },
    ]);
    expect(body.consumed_ms).toBe(4_000);
  }
});

/** What the ledger itself says, by day, model and key. */
async function ledgerLines(accountId: string): Promise<string[]> {
  const { rows } = await service.database.pool.query<{ line: string }>(
    `select concat_ws(' ', to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD'), s.model,
        coalesce(s.key_id, 'none'), count(*), sum(t.consumed_ms)) as line
      from txn t join sessions s on s.account_id = t.account_id and s.id = t.session_id
      where t.account_id = $1 and t.kind in ('complete', 'settle_late')
      group by to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD'), s.model, s.key_id`,
    [accountId],
  );
  return rows.map(({ line }) => line).toSorted();
}

test('usage by key, as a table and as a file, equals the ledger to the millisecond', async () => {
  const { accountId, browser } = await newAccount('by-key@example.com');
  const { key } = await browser.createKey('@server, main');
  const keyId = key.id;
  await speak(accountId, { model: KIKUYU, samples: 19_200, keyId });
  await speak(accountId, { model: KIKUYU, samples: 48_000, keyId });
  await speak(accountId, { model: DHOLUO, samples: 16_000, keyId });
  await speak(accountId, { model: KIKUYU, samples: 1 });
  await speak(accountId, { model: KIKUYU, samples: 16_000, keyId, status: 'failed' });
  const { body } = await browser.get<UsageReport>('/usage');
  const said = body.data.map((line) =>
    [line.day, line.model, line.key_id ?? 'none', line.sessions, line.billable_ms].join(' '),
  );
  expect(said.toSorted()).toEqual(await ledgerLines(accountId));
  const { body: overview } = await browser.get<Overview>('/overview');
  const total = body.data.reduce((sum, line) => sum + line.billable_ms, 0);
  expect([total, body.complete]).toEqual([overview.consumed_ms, true]);

  const file = await fetch(`${service.url}/console-api/usage.csv`, {
    headers: { cookie: browser.cookie },
  });
  const lines = (await file.text()).trim().split('\r\n').slice(1);
  expect(lines.join('\n')).toContain(`"'@server, main"`);
  const filed = lines.map((line) => {
    const [day, model, id, ...rest] = line.replace(`"'@server, main"`, 'name').split(',');
    return [day, model, id === '' ? 'none' : id, rest[1], rest[2]].join(' ');
  });
  expect(filed.toSorted()).toEqual(await ledgerLines(accountId));
  const past = await browser.get<UsageReport>('/usage?from=2026-01-01&to=2026-01-31');
  expect(past.body).toMatchObject({
    from: '2026-01-01',
    to: '2026-01-31',
    data: [],
    previous_ms: 0,
  });
  const filtered = await browser.get<UsageReport>(`/usage?key=none&model=${KIKUYU}`);
  expect(filtered.body.data.map(({ billable_ms }) => billable_ms)).toEqual([1_000]);
  expect(filtered.body.keys.map(({ id }) => id).toSorted()).toEqual([keyId, 'none'].toSorted());
  expect((await browser.get('/usage?from=yesterday')).status).toBe(400);
});

test('usage is for members of the account only', async () => {
  const { accountId, browser: owner } = await newAccount('usage-owner@example.com');
  const member = await service.joined(owner, { email: 'usage-member@example.com', role: 'member' });
  const { browser: other } = await newAccount('usage-other@example.com');
  await speak(accountId, { model: KIKUYU, samples: 16_000 });
  expect((await owner.get<UsageReport>('/usage')).body.data).toHaveLength(1);
  expect((await member.get<UsageReport>('/usage')).body.data).toHaveLength(1);
  expect((await other.get<UsageReport>('/usage')).body.data).toEqual([]);
  const stranger = new TestBrowser(service.url);
  for (const path of ['/usage', '/usage.csv']) {
    expect((await stranger.get(path)).status).toBe(401);
  }
});

test('recent sessions explain each charge', async () => {
  const { accountId, browser } = await newAccount('why@example.com');
  await speak(accountId, { model: KIKUYU, samples: 19_200 });
  await browser.post('/playground/session', { model: DHOLUO, max_audio_seconds: 30 });
  const { body } = await browser.get<Overview>('/overview');
  expect(body.reserved_ms).toBe(30_000);
  expect(body.sessions).toMatchObject([
    { model: DHOLUO, status: 'reserved', reserved_ms: 30_000, billable_ms: 0, completed_at: null },
    {
      model: KIKUYU,
      status: 'completed',
      reserved_ms: 60_000,
      audio_ms: 1_200,
      billable_ms: 2_000,
    },
  ]);
});

test('an erased account has no personal data and no working keys, and keeps its figures', async () => {
  const { accountId, browser } = await newAccount('forget-me@example.com');
  const { secret } = await browser.createKey('secret project');
  await speak(accountId, { model: KIKUYU, samples: 16_000 });
  const wrong = await browser.post('/erase', { confirm_email: 'someone@example.com' });
  expect(wrong.status).toBe(400);
  const done = await browser.post('/erase', { confirm_email: 'Forget-Me@example.com' });
  expect(done.status).toBe(200);
  expect((await browser.get('/me')).status).toBe(401);
  const { rows } = await service.database.pool.query<{ dump: string; consumed: number }>(
    `select (select string_agg(x::text, ' ') from (
        select a::text as x from accounts a union all select u::text from console_users u
        union all select w::text from waitlist w union all select k::text from api_keys k
        union all select c::text from sign_in_codes c) everything) as dump,
      (select consumed_ms from accounts where id = $1) as consumed`,
    [accountId],
  );
  expect(rows[0]?.dump).not.toContain('forget-me');
  expect(rows[0]?.dump).not.toContain('secret project');
  expect(rows[0]?.consumed).toBe(1_000);
  await expect
    .poll(
      async () =>
        (await service.request('/v1/usage', { headers: { authorization: `Bearer ${secret}` } }))
          .status,
      { timeout: 5_000 },
    )
    .toBe(401);
});

test('an account with a session in progress is not erased', async () => {
  const { browser } = await newAccount('busy@example.com');
  await browser.post('/playground/session', { model: KIKUYU });
  const answer = await browser.post('/erase', { confirm_email: 'busy@example.com' });
  expect(answer.status).toBe(409);
});
