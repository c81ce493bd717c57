import { eventually } from '@svc-asr/testing/eventually.ts';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startConsoleService } from '../support/console/console-service.ts';

/** Downloads of a whole account. Who may have them is in roles.test.ts. */

const service = await startConsoleService();
afterAll(() => service.stop());

const ACCOUNTS = 5;
const ACCOUNT_DOWNLOADS_MAX = 4;

/** A table that downloads can't read until it is released. */
async function holdCalls(): Promise<() => Promise<void>> {
  const holder = await service.database.pool.connect();
  await holder.query('begin');
  await holder.query('lock table api_calls in access exclusive mode');
  let held = true;
  async function release(): Promise<void> {
    if (!held) return;
    held = false;
    await holder.query('rollback');
    holder.release();
  }
  onTestFinished(release);
  return release;
}

async function readersWait(): Promise<void> {
  await eventually(async () => {
    const { rows } = await service.database.pool.query(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock' and application_name like '%console%'`,
    );
    return rows.length > 0;
  });
}

test('exports wait for each other, and pages are answered meanwhile', async () => {
  const owner = await service.signedIn('exporter@example.com');
  const release = await holdCalls();
  const exports = Array.from({ length: ACCOUNT_DOWNLOADS_MAX }, () =>
    owner.get<{ note: string }>('/data'),
  );
  await readersWait();
  const pages = await Promise.all(['/overview', '/keys'].map((path) => owner.get(path)));
  await release();
  expect(pages.map(({ status }) => status)).toEqual([200, 200]);
  for (const { status, body } of await Promise.all(exports)) {
    expect([status, body.note]).toEqual([200, expect.stringContaining('never stored')]);
  }
});

test('a failed export does not stop the next one', async () => {
  const owner = await service.signedIn('unlucky@example.com');
  const release = await holdCalls();
  const exports = Array.from({ length: 2 }, () => owner.get('/data'));
  await readersWait();
  await service.database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where wait_event_type = 'Lock' and application_name like '%console%'`,
  );
  await release();
  const statuses = (await Promise.all(exports)).map(({ status }) => status);
  // Either of them can be the first.
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
});

test('too many exports get a 429 with Retry-After, and one account leaves places for others', async () => {
  const last = await service.signedIn('last@example.com');
  const others = await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, at) => service.signedIn(`many-${at}@example.com`)),
  );
  const release = await holdCalls();
  const exports = others.map((owner) =>
    Array.from({ length: ACCOUNT_DOWNLOADS_MAX + 1 }, () => owner.get('/data')),
  );
  // The first answer of each account refuses one of its exports. By then all places are taken.
  const refused = await Promise.all(exports.map((ofAccount) => Promise.race(ofAccount)));
  refused.push(await last.get('/data'));
  for (const { status, headers } of refused) {
    expect([status, headers.get('retry-after')]).toEqual([429, '10']);
  }
  await release();
  const statuses = (await Promise.all(exports.flat())).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(
    ACCOUNTS * ACCOUNT_DOWNLOADS_MAX,
  );
});
