import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { setAccountStatus, setConcurrency } from '../../src/accounts/accounts.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { registerNode } from '../../src/nodes/nodes.ts';
import { NODE, type Books } from '@svc-asr/testing/ledger/ledger-fixture.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { makeOlder } from '@svc-asr/testing/postgres/time-travel.ts';

/** The guarantees of the ledger, each as a scenario that throws BrokenPromise when violated. */
export class BrokenPromise extends Error {}

function must(said: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(said, expected)) return;
  throw new BrokenPromise(`${what}: ${JSON.stringify(said)} and not ${JSON.stringify(expected)}`);
}

async function figures(books: Books, accountId: string): Promise<readonly number[]> {
  const balance = await books.ledger.balance(accountId);
  return [balance?.availableMs ?? -1, balance?.reservedMs ?? -1, balance?.consumedMs ?? -1];
}

function countOf<T>(values: readonly T[], wanted: T): number {
  return values.filter((value) => value === wanted).length;
}

/** Runs calls truly concurrently: all of them wait behind a lock, which is then released. */
async function meanwhileHolding<T>(
  books: Books,
  lock: { sql: string; values: readonly unknown[]; until?: string },
  runners: readonly (() => Promise<T>)[],
): Promise<T[]> {
  const holder = await books.owner.connect();
  try {
    await holder.query('begin');
    await holder.query(lock.sql, [...lock.values]);
    const running = Promise.allSettled(runners.map((run) => run()));
    await eventually(async () => {
      // On another connection: inside a transaction the view would stay as it was first seen.
      const { rows } = await books.owner.query<{ waiting: number }>(
        `select count(*) as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0]?.waiting === runners.length;
    });
    if (lock.until !== undefined) await holder.query(lock.until, [...lock.values]);
    await holder.query('rollback');
    return (await running).map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  } finally {
    holder.release();
  }
}

async function race(books: Books, accountId: string, runners: number): Promise<number> {
  const answers = await meanwhileHolding(
    books,
    { sql: 'select from accounts where id = $1 for no key update', values: [accountId] },
    Array.from({ length: runners }, () => () => books.ask(accountId)),
  );
  return countOf(
    answers.map(({ outcome }) => outcome),
    'reserved',
  );
}

/** Enough to begin to wait in, on a busy machine too. */
const LIFE_LEFT_MS = 1_500;
const HOLD_SESSION = 'select from sessions where id = $1 for update';

export const PROMISES = {
  async 'what was heard is spent and the rest comes back'(books) {
    const accountId = await books.account(10_000);
    const session = await books.reserve(accountId, { requestedMs: 8_000 });
    must(await figures(books, accountId), [2_000, 8_000, 0], 'after the reservation');
    must(await books.claim(session), 'claimed', 'the claim');
    must(await books.close(session, { samples: 17_000 }), 'closed', 'the close');
    must(await figures(books, accountId), [8_000, 0, 2_000], 'after the end');
  },
  async 'nobody pays for more than was reserved'(books) {
    const accountId = await books.account(10_000);
    const session = await books.reserve(accountId, { requestedMs: 2_000 });
    await books.claim(session);
    await books.close(session, { samples: 1_000_000 });
    must(await figures(books, accountId), [8_000, 0, 2_000], 'after the end');
  },
  async 'a failed session costs nothing'(books) {
    const accountId = await books.account(10_000);
    const session = await books.reserve(accountId);
    await books.claim(session);
    await books.close(session, { status: 'failed', samples: 32_000 });
    must(await figures(books, accountId), [10_000, 0, 0], 'after the failure');
  },
  async 'a close counts once'(books) {
    const accountId = await books.account(60_000);
    const session = await books.reserve(accountId);
    await books.claim(session);
    const end = () => books.close(session, { samples: 16_000 });
    const answers = await Promise.all([end(), end(), end(), end()]);
    must(countOf(answers, 'closed'), 1, 'closes that counted');
    must(await figures(books, accountId), [59_000, 0, 1_000], 'after them');
  },
  async 'only its own node ends a stream'(books) {
    const session = await books.reserve(await books.account(60_000));
    await books.claim(session);
    const foreign = await books.close(session, { nodeId: 'another' }).catch(() => 'refused');
    must(foreign, 'refused', 'a close by another node');
  },
  async 'one reservation at a time'(books) {
    must(await race(books, await books.account(6_000_000), 8), 1, 'winners of eight');
  },
  async 'a limit of three admits three'(books) {
    const accountId = await books.account(6_000_000);
    await setConcurrency(books.owner, { id: accountId, limit: 3 });
    must(await race(books, accountId, 8), 3, 'winners of eight');
  },
  async 'a lowered limit is not exceeded'(books) {
    const accountId = await books.account(6_000_000);
    await setConcurrency(books.owner, { id: accountId, limit: 2 });
    const first = await books.reserve(accountId);
    await books.reserve(accountId);
    await setConcurrency(books.owner, { id: accountId, limit: 1 });
    await books.close(first, { status: 'failed' });
    must((await books.ask(accountId)).outcome, 'concurrency_limit_exceeded', 'one more');
  },
  async 'a replay is the same reservation'(books) {
    const accountId = await books.account(600_000);
    const wish = { idempotencyKey: 'key' };
    const first = await books.reserve(accountId, wish);
    const again = await books.ask(accountId, wish);
    must(again, { outcome: 'reserved', replayed: true, session: first }, 'the replay');
  },
  async 'a key is for one request'(books) {
    const accountId = await books.account(600_000);
    await books.reserve(accountId, { idempotencyKey: 'key' });
    const other = await books.ask(accountId, { idempotencyKey: 'key', requestedMs: 1_000 });
    must(other.outcome, 'idempotency_conflict', 'another request');
  },
  async 'a key is free after the expiry'(books) {
    const accountId = await books.account(600_000);
    const first = await books.reserve(accountId, { idempotencyKey: 'key' });
    await books.lapse(first);
    const second = await books.ask(accountId, { idempotencyKey: 'key' });
    must(second.outcome === 'reserved' && second.replayed, false, 'a replay after the expiry');
  },
  async 'a credential works once'(books) {
    const session = await books.reserve(await books.account(60_000));
    const outcomes = await meanwhileHolding(
      books,
      { sql: HOLD_SESSION, values: [session.id] },
      Array.from({ length: 6 }, () => () => books.claim(session)),
    );
    must(countOf(outcomes, 'claimed'), 1, 'winners of six');
    must(await books.claim(session), 'used', 'a later one');
  },
  async 'an upgrade that lost its answer may ask again'(books) {
    const session = await books.reserve(await books.account(60_000));
    const attempt = randomUUID();
    await books.claim(session, attempt);
    must(await books.claim(session, attempt), 'claimed', 'the same upgrade');
  },
  async 'a credential works for a minute'(books) {
    const session = await books.reserve(await books.account(60_000));
    await books.lapse(session);
    must(await books.claim(session), 'expired', 'a claim after the expiry');
  },
  async 'a claim that waited past the expiry loses'(books) {
    const session = await books.reserve(await books.account(60_000));
    await makeOlder(books.owner, { sessionId: session.id, ms: 60_000 - LIFE_LEFT_MS });
    const expiry = `select pg_sleep_until(expires_at + interval '1 ms') from sessions where id = $1`;
    const [outcome] = await meanwhileHolding(
      books,
      { sql: HOLD_SESSION, values: [session.id], until: expiry },
      [() => books.claim(session)],
    );
    must(outcome, 'expired', 'the late claim');
  },
  async 'a lapsed reservation makes room'(books) {
    const accountId = await books.account(60_000);
    await books.lapse(await books.reserve(accountId));
    must((await books.ask(accountId)).outcome, 'reserved', 'the next one');
  },
  async 'the sweeper returns what lapsed and nothing else'(books) {
    const lapsed = await books.account(60_000);
    const waiting = await books.account(60_000);
    await books.lapse(await books.reserve(lapsed));
    await books.reserve(waiting);
    await books.ledger.sweep();
    const { rows } = await books.owner.query<{ id: string; reserved_ms: number }>(
      'select id, reserved_ms from accounts where id = any ($1)',
      [[lapsed, waiting]],
    );
    must(rows.find(({ id }) => id === lapsed)?.reserved_ms, 0, 'still set aside for the lapsed');
    must(rows.find(({ id }) => id === waiting)?.reserved_ms, 60_000, 'set aside for the other');
  },
  async 'a restarted node frees its accounts and harms no other'(books) {
    const orphaned = await books.reserve(await books.account(60_000));
    const served = await books.reserve(await books.account(60_000));
    const node = { ...NODE, id: 'restarted' };
    const nodeEpoch = await registerNode(books.owner, node);
    const claim = { sessionId: orphaned.id, accountId: orphaned.accountId, nodeEpoch };
    await books.ledger.claim({ ...claim, nodeId: node.id });
    await books.claim(served);
    await registerNode(books.owner, node);
    await books.ledger.sweep();
    const statusOf = async (accountId: string) =>
      (await books.ledger.balance(accountId))?.recentSessions[0]?.status;
    must(await statusOf(orphaned.accountId), 'failed', 'the stream of the process that died');
    must(await statusOf(served.accountId), 'active', 'the stream of a healthy node');
  },
  async 'no stream is failed for a lease that ended while the database was away'(books) {
    const session = await books.reserve(await books.account(60_000));
    await books.claim(session);
    await books.owner.query(
      `update nodes set lease_until = clock_timestamp() - interval '1 second' where id = $1`,
      [NODE.id],
    );
    await books.owner.query(
      `update sweeper_watch set last_tick_at = clock_timestamp() - interval '20 seconds'`,
    );
    await books.ledger.sweep();
    await books.owner.query(`update nodes set lease_until = 'infinity' where id = $1`, [NODE.id]);
    const balance = await books.ledger.balance(session.accountId);
    must(balance?.recentSessions[0]?.status, 'active', 'the stream');
  },
  async 'only whole seconds are reserved, and at least one'(books) {
    must((await books.reserve(await books.account(7_999))).reservedMs, 7_000, 'of 7,999 ms');
    must((await books.ask(await books.account(999))).outcome, 'insufficient_credits', 'of 999 ms');
  },
  async 'a suspended account gets and uses nothing'(books) {
    const accountId = await books.account(60_000);
    const session = await books.reserve(accountId);
    await setAccountStatus(books.owner, { id: accountId, status: 'suspended' });
    must(await books.claim(session), 'account_inactive', 'a claim');
    must((await books.ask(accountId)).outcome, 'account_inactive', 'a reservation');
  },
  async 'credit is posted once and never taken below nothing'(books) {
    const accountId = await books.account(0);
    const ledger = createLedger(books.owner);
    const credit = { accountId, ms: 5_000, reason: 'a test', actor: 'test', id: randomUUID() };
    await ledger.grant(credit);
    await ledger.grant(credit);
    const taken = await ledger.adjust({ ...credit, ms: -6_000, id: randomUUID() });
    must(taken.outcome, 'insufficient_credits', 'taking more than there is');
    must(await figures(books, accountId), [5_000, 0, 0], 'after them');
  },
} as const satisfies Record<string, (books: Books) => Promise<void>>;

export type PromiseName = keyof typeof PROMISES;
