import {
  SERVICE_COMPONENTS,
  type ServiceState,
  type ServiceStatus,
  type StatusHistory,
} from '@svc-asr/protocol/service-status.ts';
import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { mutateFunction } from '@svc-asr/testing/postgres/mutate-function.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runAdmin } from '../../src/admin/program.ts';
import { readHistory } from '../../src/nodes/status/history.ts';
import { incidentFeed } from '../../src/nodes/status/incident-feed.ts';
import { recordStatus } from '../../src/nodes/status/recorder.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query('create table clock (now timestamptz)');
  await database.pool.query('insert into clock values (null)');
  const setByHand = { from: 'clock_timestamp()', to: '(select now from public.clock)' };
  for (const name of ['record_status', 'status_history']) {
    await mutateFunction(database.pool, name, [setByHand]);
  }
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query('truncate status_days, incidents');
  await setClock('2026-03-10T12:00Z');
});

async function setClock(now: string): Promise<void> {
  await database.pool.query('update clock set now = $1', [now]);
}

/** Sets the available minutes of a day, `daysAgo` before today in UTC. */
async function recorded(input: { daysAgo: number; from?: number; down?: number }): Promise<void> {
  const { daysAgo, from = 0, down = 0 } = input;
  await database.pool.query(
    `insert into status_days (day, component, from_minute, available)
      select (now at time zone 'UTC')::date - $1::integer, 'api', $2::integer,
        (repeat('0', $2::integer + $3::integer) || repeat('1', 1440 - $2::integer - $3::integer))::bit(1440)
        from clock`,
    [daysAgo, from, down],
  );
}

async function api(): Promise<StatusHistory['components'][number]> {
  const { components } = await readHistory(database.pool);
  const found = components.find(({ id }) => id === 'api');
  if (found === undefined) throw new Error('The API is not listed.');
  return found;
}

const whole = (down: number) => expect.objectContaining({ minutes: 1_440, down_minutes: down });

test('days since the first record count, with the minutes that nobody recorded as down', async () => {
  await recorded({ daysAgo: 3, from: 1_000, down: 10 });
  // Two days ago nothing ran.
  await recorded({ daysAgo: 1, down: 30 });
  const { days } = await api();
  expect(days.slice(0, 3)).toEqual([
    expect.objectContaining({ minutes: 440, down_minutes: 10 }),
    whole(1_440),
    whole(30),
  ]);
});

test('availability is cut, so an interruption never shows as 100 %', async () => {
  await recorded({ daysAgo: 88 });
  for (let daysAgo = 87; daysAgo >= 0; daysAgo -= 1) {
    await recorded({ daysAgo, down: daysAgo === 40 ? 1 : 0 });
  }
  const { available_percent: percent, days } = await api();
  expect(percent).toBe(99.99);
  expect(days).toHaveLength(89);
});

async function minutesAt(now: string): Promise<number[]> {
  await setClock(now);
  return (await api()).days.map(({ minutes }) => minutes);
}

test('a minute counts when the next one is over, also across midnight', async () => {
  await recorded({ daysAgo: 0, from: 1_430 });
  expect(await minutesAt('2026-03-10T23:59:59Z')).toEqual([8]);
  expect(await minutesAt('2026-03-11T00:00:59Z')).toEqual([9]);
  expect(await minutesAt('2026-03-11T00:01:00Z')).toEqual([10, 0]);
  expect(await minutesAt('2026-03-11T00:02:00Z')).toEqual([10, 1]);
});

const all = (state: ServiceState): ServiceStatus => ({
  state,
  checked_at: '',
  components: SERVICE_COMPONENTS.map((part) => ({ ...part, state, detail: '' })),
});

test('processes that record the same minute count it once, and one that is down does not undo it', async () => {
  await Promise.all([
    recordStatus(database.pool, all('operational')),
    recordStatus(database.pool, all('down')),
    recordStatus(database.pool, all('operational')),
  ]);
  await recordStatus(database.pool, all('down'));
  const { rows } = await database.pool.query(
    'select component, bit_count(available)::integer as up from status_days order by component',
  );
  expect(rows).toHaveLength(SERVICE_COMPONENTS.length);
  for (const { up: minutes } of rows) expect(minutes).toBe(1);
});

test('days older than 90 are deleted when a day begins', async () => {
  await recorded({ daysAgo: 90 });
  await recorded({ daysAgo: 89 });
  await recordStatus(database.pool, { state: 'operational', checked_at: '', components: [] });
  const { rows } = await database.pool.query(
    `select count(*)::integer as days from status_days where component = 'api'`,
  );
  expect(rows).toEqual([{ days: 2 }]);
  const { days } = await api();
  expect(days).toHaveLength(90);
});

async function admin(...words: string[]): Promise<{ status: number; said: string }> {
  let said = '';
  const tell = (text: string) => void (said += text);
  const env = { DATABASE_URL: database.url };
  const status = await runAdmin(words, { env, devFolder: '/nowhere', out: tell, err: tell });
  return { status, said };
}

test('an operator adds, resolves and removes an incident, and the audit log names each step', async () => {
  const start = ['--start', '2026-01-31T12:00Z'];
  const added = await admin('status', 'incident', 'add', 'Calls <cut> & lost', ...start, '--json');
  const { id }: { id: number } = JSON.parse(added.said);
  const early = await admin('status', 'incident', 'change', `${id}`, '--end', '2025-01-31T12:00Z');
  expect(early.status).toBe(1);
  expect(
    (await admin('status', 'incident', 'change', `${id}`, '--end', '2026-01-31T12:40Z')).status,
  ).toBe(0);
  const listed = await admin('status', 'incident', 'list', '--days', '3650', '--json');
  expect(JSON.parse(listed.said)).toMatchObject([
    { id, text: 'Calls <cut> & lost', ended_at: '2026-01-31T12:40:00.000Z' },
  ]);
  expect((await admin('status', 'incident', 'remove', `${id}`)).status).toBe(0);
  const missing = await admin('status', 'incident', 'remove', `${id}`);
  expect(missing).toMatchObject({
    status: 1,
    said: expect.stringContaining('There is no incident'),
  });
  const { rows } = await database.pool.query(
    `select action from audit_log where target = $1 and action like 'incident.%' order by id`,
    [`${id}`],
  );
  expect(rows.map(({ action }) => action)).toEqual([
    'incident.created',
    'incident.changed',
    'incident.deleted',
  ]);
});

test('refuses a time in the future, and one without its zone', async () => {
  for (const time of ['2999-01-01T00:00Z', '2026-01-31 12:00', '2026-02-31T12:00Z']) {
    const { status } = await admin('status', 'incident', 'add', 'Slow answers', '--start', time);
    expect(status).toBe(2);
  }
});

test('the feed has an entry per incident, and escapes what operators write', () => {
  const incident = {
    id: 4,
    text: 'Calls <cut> & lost',
    started_at: '2026-01-31T12:00:00.000Z',
    ended_at: null,
    updated_at: '2026-01-31T12:05:00.000Z',
  };
  const feed = incidentFeed([incident], { url: 'https://api.example', at: '2026-02-01T00:00:00Z' });
  expect(feed).toContain('<title>Ongoing: Calls &lt;cut&gt; &amp; lost</title>');
  expect(feed).toContain('<id>https://api.example/status#incident-4</id>');
  expect(feed).toContain('<updated>2026-01-31T12:05:00.000Z</updated>\n<entry>');
});
