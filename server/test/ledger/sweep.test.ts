import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  startLocalPostgres,
  type LocalPostgres,
} from '@svc-asr/testing/postgres/local-postgres.ts';
import { migrate } from '../../src/platform/migrate.ts';
import { renewNode, retireNode } from '../../src/nodes/nodes.ts';
import { NODE, openBooks, type Books } from '@svc-asr/testing/ledger/ledger-fixture.ts';
import { attachDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';

async function statusOf(books: Books, accountId: string): Promise<string | undefined> {
  return (await books.ledger.balance(accountId))?.recentSessions[0]?.status;
}

async function activeStream(books: Books): Promise<string> {
  const session = await books.reserve(await books.account(60_000));
  expect(await books.claim(session)).toBe('claimed');
  return session.accountId;
}

describe('a sweep', () => {
  let books: Books;
  beforeAll(async () => {
    books = await openBooks();
  });
  afterAll(() => books.drop());

  test('works in batches and says when there is more', async () => {
    for (let index = 0; index < 5; index += 1) {
      await books.lapse(await books.reserve(await books.account(60_000)));
    }
    expect(await books.ledger.sweep({ batch: 3 })).toMatchObject({ expired: 3, more: true });
    expect(await books.ledger.sweep({ batch: 3 })).toMatchObject({ expired: 2, more: false });
    await books.mustBeRight();
  });

  test('skips locked rows and leaves them for the next sweep', async () => {
    const busy = await books.account(60_000);
    const idle = await books.account(60_000);
    for (const account of [busy, idle]) await books.lapse(await books.reserve(account));
    const holder = await books.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from accounts where id = $1 for update', [busy]);
      expect(await books.ledger.sweep()).toMatchObject({ expired: 1 });
      await holder.query('rollback');
    } finally {
      holder.release();
    }
    expect(await books.ledger.sweep()).toMatchObject({ expired: 1 });
  });

  test('fails the streams of a node that retired, at once and unbilled', async () => {
    const accountId = await activeStream(books);
    await retireNode(books.owner, { id: NODE.id, epoch: books.nodeEpoch });
    expect(await books.ledger.sweep()).toMatchObject({ failed: 1 });
    expect(await statusOf(books, accountId)).toBe('failed');
    expect(await books.ledger.balance(accountId)).toMatchObject({ availableMs: 60_000 });
    await books.mustBeRight();
  });
});

describe('after PostgreSQL froze', () => {
  let server: LocalPostgres;
  let books: Books;
  beforeAll(async () => {
    server = await startLocalPostgres();
    await migrate({ url: server.url });
    books = await openBooks(attachDatabase(server.url));
    // Short leases make a short test: the rules are made of nothing else.
    await books.owner.query(`create or replace function lease_length() returns interval
      language sql immutable parallel safe as $$ select interval '1 second' $$`);
  });
  afterAll(async () => {
    await books.drop();
    await server.stop('immediate');
  });

  async function renewAndSweep(): Promise<{ failed: number; quietMs: number }> {
    const load = { active: 1, capacity: 10, draining: false };
    await renewNode(books.owner, { id: NODE.id, epoch: books.nodeEpoch, ...load });
    return books.ledger.sweep();
  }

  async function signalAll(signal: NodeJS.Signals): Promise<void> {
    const postmaster = await server.pid();
    const { stdout } = await promisify(execFile)('pgrep', ['-P', String(postmaster)]);
    const children = stdout.trim().split('\n').map(Number);
    for (const pid of [postmaster, ...children]) process.kill(pid, signal);
  }

  test(
    'an older sweep fails no healthy stream, and a dead node is still detected later',
    { timeout: 120_000 },
    async () => {
      await eventually(async () => (await renewAndSweep()).quietMs === 0, 60_000);
      const accountId = await activeStream(books);
      await renewAndSweep();

      await signalAll('SIGSTOP');
      const sweep = books.ledger.sweep();
      await delay(2_500); // longer than a lease: this is the fault, not a wait for something
      await signalAll('SIGCONT');
      const swept = await sweep;
      expect(swept.failed).toBe(0);
      expect(swept.quietMs).toBeGreaterThan(0);
      await eventually(async () => (await renewAndSweep()).quietMs === 0, 60_000);
      expect(await statusOf(books, accountId)).toBe('active');

      await eventually(async () => (await books.ledger.sweep()).failed === 1, 60_000);
      expect(await statusOf(books, accountId)).toBe('failed');
    },
  );
});
