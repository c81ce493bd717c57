import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLocalPostgres, type LocalPostgres } from '@svc-asr/local/local-postgres.ts';
import { setConcurrency } from '../../src/accounts/accounts.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { LEASE_MS, renewNode, retireNode } from '../../src/nodes/nodes.ts';
import {
  NODE,
  openLedgerFixture,
  type LedgerFixture,
} from '@svc-asr/testing/ledger/ledger-fixture.ts';
import { attachDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { mutateFunction } from '@svc-asr/testing/postgres/mutate-function.ts';
import { backdateSession } from '@svc-asr/testing/postgres/time-travel.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

async function statusOf(fixture: LedgerFixture, accountId: string): Promise<string | undefined> {
  return (await fixture.ledger.balance(accountId))?.recentSessions[0]?.status;
}

async function activeStream(fixture: LedgerFixture): Promise<string> {
  const session = await fixture.reserve(await fixture.account(60_000));
  expect(await fixture.claim(session)).toBe('claimed');
  return session.accountId;
}

describe('a sweep', () => {
  let fixture: LedgerFixture;
  beforeAll(async () => {
    fixture = await openLedgerFixture();
  });
  afterAll(() => fixture.drop());

  test('works in batches and says when there is more', async () => {
    for (let index = 0; index < 5; index += 1) {
      await fixture.expire(await fixture.reserve(await fixture.account(60_000)));
    }
    expect(await fixture.ledger.sweep({ batch: 3 })).toMatchObject({ expired: 3, more: true });
    expect(await fixture.ledger.sweep({ batch: 3 })).toMatchObject({ expired: 2, more: false });
    await fixture.expectInvariantsHold();
  });

  test('forgets lost audio and takeovers in batches', async () => {
    const account = await fixture.account(60_000);
    const left = async () => {
      const { rows } = await fixture.owner.query(
        `select (select count(*)::int from lost_audio) as lost, (select count(*)::int from session_takeovers) as takeovers`,
      );
      return rows[0];
    };
    await fixture.owner.query(
      `insert into lost_audio select $1, gen_random_uuid(), '{1}', '{a}', clock_timestamp() - interval '6 minutes'
        from generate_series(1, 5)`,
      [account],
    );
    await fixture.owner.query(
      `insert into session_takeovers select gen_random_uuid(), $1, 'proof', clock_timestamp() - n * interval '61 minutes'
        from generate_series(0, 4) n`,
      [account],
    );
    expect(await fixture.ledger.sweep({ batch: 3 })).toMatchObject({ more: true });
    expect(await left()).toEqual({ lost: 2, takeovers: 2 });
    expect(await fixture.ledger.sweep({ batch: 3 })).toMatchObject({ more: false });
    expect(await left()).toEqual({ lost: 0, takeovers: 1 });
  });

  test('skips locked rows and leaves them for the next sweep', async () => {
    const busy = await fixture.account(60_000);
    const idle = await fixture.account(60_000);
    for (const account of [busy, idle]) await fixture.expire(await fixture.reserve(account));
    const holder = await fixture.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from accounts where id = $1 for update', [busy]);
      expect(await fixture.ledger.sweep()).toMatchObject({ expired: 1 });
      await holder.query('rollback');
    } finally {
      holder.release();
    }
    expect(await fixture.ledger.sweep()).toMatchObject({ expired: 1 });
  });

  test('fails the streams of a node that retired, at once and unbilled', async () => {
    const accountId = await activeStream(fixture);
    await retireNode(fixture.owner, { id: NODE.id, epoch: fixture.nodeEpoch });
    expect(await fixture.ledger.sweep()).toMatchObject({ failed: 1 });
    expect(await statusOf(fixture, accountId)).toBe('failed');
    expect(await fixture.ledger.balance(accountId)).toMatchObject({ availableMs: 60_000 });
    await fixture.expectInvariantsHold();
  });
});

describe('after the clock was set back by three months', () => {
  let fixture: LedgerFixture;
  beforeAll(async () => {
    fixture = await openLedgerFixture();
    // As a database sees it that was started and swept before the change.
    await mutateFunction(fixture.owner, 'fail_orphans', [
      {
        from: 'pg_postmaster_start_time()',
        to: `(clock_timestamp() + interval '3 months')`,
      },
    ]);
    await fixture.owner.query(
      `update sweeper_watch set last_tick_at = clock_timestamp() + interval '3 months',
        quiet_until = clock_timestamp() + interval '3 months'`,
    );
  });
  afterAll(() => fixture.drop());

  test('a sweep pauses for two lease lengths, then detects dead nodes again', async () => {
    const accountId = await activeStream(fixture);
    const { failed, quietMs } = await fixture.ledger.sweep();
    expect(failed).toBe(0);
    expect(quietMs).toBe(2 * LEASE_MS);
    await fixture.owner.query(
      `update nodes set lease_until = clock_timestamp() - interval '1 second'`,
    );
    await fixture.owner.query('update sweeper_watch set quiet_until = clock_timestamp()');
    expect(await fixture.ledger.sweep()).toMatchObject({ failed: 1, quietMs: 0 });
    expect(await statusOf(fixture, accountId)).toBe('failed');
    await fixture.expectInvariantsHold();
  });

  test('a refused reservation names a wait of a minute at most', async () => {
    const accountId = await fixture.account(120_000);
    const session = await fixture.reserve(accountId);
    await backdateSession(fixture.owner, { sessionId: session.id, ms: -90 * DAY_MS });
    expect(await fixture.tryReserve(accountId)).toMatchObject({
      outcome: 'concurrency_limit_exceeded',
      retryAfterMs: 60_000,
    });
  });
});

test('a limit that is lowered after the clock was set back is no finding of the audit', async () => {
  const fixture = await openLedgerFixture();
  const accountId = await fixture.account(120_000);
  await setConcurrency(fixture.owner, { id: accountId, limit: 2 });
  const sessions = [await fixture.reserve(accountId), await fixture.reserve(accountId)];
  for (const { id: sessionId } of sessions) {
    await backdateSession(fixture.owner, { sessionId, ms: -DAY_MS });
  }
  await setConcurrency(fixture.owner, { id: accountId, limit: 1 });
  expect((await fixture.tryReserve(accountId)).outcome).toBe('concurrency_limit_exceeded');
  await fixture.expectInvariantsHold();
  await fixture.drop();
});

describe('after PostgreSQL froze', () => {
  let server: LocalPostgres;
  let fixture: LedgerFixture;
  beforeAll(async () => {
    server = await startLocalPostgres();
    await migrate({ url: server.url });
    fixture = await openLedgerFixture(attachDatabase(server.url));
    // Short leases keep the test short. All other timeouts derive from them.
    await fixture.owner.query(`create or replace function lease_length() returns interval
      language sql immutable parallel safe as $$ select interval '1 second' $$`);
  });
  afterAll(async () => {
    await fixture.drop();
    await server.stop('immediate');
  });

  async function renewAndSweep(): Promise<{ failed: number; quietMs: number }> {
    const load = { active: 1, capacity: 10, draining: false };
    await renewNode(fixture.owner, { id: NODE.id, epoch: fixture.nodeEpoch, ...load });
    return fixture.ledger.sweep();
  }

  async function signalAll(signal: NodeJS.Signals): Promise<void> {
    const postmaster = await server.pid();
    for (const pid of [postmaster, ...(await childrenOf(postmaster))]) process.kill(pid, signal);
  }

  test('an older sweep fails no healthy stream, and a dead node is still detected later', async () => {
    await eventually(async () => (await renewAndSweep()).quietMs === 0, 60_000);
    const accountId = await activeStream(fixture);
    await renewAndSweep();

    await signalAll('SIGSTOP');
    const sweep = fixture.ledger.sweep();
    await delay(2_500); // Longer than a lease. This pause is the fault itself, not a wait.
    await signalAll('SIGCONT');
    const swept = await sweep;
    expect(swept.failed).toBe(0);
    expect(swept.quietMs).toBeGreaterThan(0);
    await eventually(async () => (await renewAndSweep()).quietMs === 0, 60_000);
    expect(await statusOf(fixture, accountId)).toBe('active');

    await eventually(async () => (await fixture.ledger.sweep()).failed === 1, 60_000);
    expect(await statusOf(fixture, accountId)).toBe('failed');
  });
});

async function childrenOf(parent: number): Promise<number[]> {
  const ids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const parents = await Promise.all(
    ids.map(async (id) => {
      const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '');
      return Number(/^PPid:\t(\d+)$/m.exec(status)?.[1]);
    }),
  );
  return ids.filter((_, at) => parents[at] === parent);
}
