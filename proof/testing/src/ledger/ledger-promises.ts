import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { setAccountStatus, setConcurrency } from '@svc-asr/server/accounts/accounts.ts';
import { createLedger, type CloseInput } from '@svc-asr/server/ledger/ledger.ts';
import { registerNode } from '@svc-asr/server/nodes/nodes.ts';
import { NODE, type LedgerFixture } from './ledger-fixture.ts';
import { eventually } from '../eventually.ts';
import { backdateSession, backdateSweep } from '../postgres/time-travel.ts';

/** The guarantees of the ledger, each as a scenario that throws BrokenPromise when violated. */
export class BrokenPromise extends Error {}

function must(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new BrokenPromise(
    `${what}: got ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`,
  );
}

async function figures(fixture: LedgerFixture, accountId: string): Promise<readonly number[]> {
  const balance = await fixture.ledger.balance(accountId);
  return [balance?.availableMs ?? -1, balance?.reservedMs ?? -1, balance?.consumedMs ?? -1];
}

function countOf<T>(values: readonly T[], wanted: T): number {
  return values.filter((value) => value === wanted).length;
}

/** Runs calls truly concurrently: all of them wait behind a lock, which is then released. */
async function meanwhileHolding<T>(
  fixture: LedgerFixture,
  lock: { sql: string; values: readonly unknown[]; until?: string },
  runners: readonly (() => Promise<T>)[],
): Promise<T[]> {
  const holder = await fixture.owner.connect();
  try {
    await holder.query('begin');
    await holder.query(lock.sql, [...lock.values]);
    const running = Promise.allSettled(runners.map((run) => run()));
    await eventually(async () => {
      // On another connection, because pg_stat_activity is a snapshot inside a transaction.
      const { rows } = await fixture.owner.query<{ waiting: number }>(
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

async function race(fixture: LedgerFixture, accountId: string, runners: number): Promise<number> {
  const answers = await meanwhileHolding(
    fixture,
    { sql: 'select from accounts where id = $1 for no key update', values: [accountId] },
    Array.from({ length: runners }, () => () => fixture.tryReserve(accountId)),
  );
  return countOf(
    answers.map(({ outcome }) => outcome),
    'reserved',
  );
}

/** Long enough for the claim to start waiting, even on a busy machine. */
const LIFE_LEFT_MS = 1_500;
const HOLD_SESSION = 'select from sessions where id = $1 for update';

export const PROMISES = {
  async 'accepted audio is charged and the rest is returned'(fixture) {
    const accountId = await fixture.account(10_000);
    const session = await fixture.reserve(accountId, { requestedMs: 8_000 });
    must(await figures(fixture, accountId), [2_000, 8_000, 0], 'after the reservation');
    must(await fixture.claim(session), 'claimed', 'the claim');
    must(await fixture.close(session, { samples: 17_000 }), 'closed', 'the close');
    must(await figures(fixture, accountId), [8_000, 0, 2_000], 'after the end');
  },
  async 'at most the reservation is charged'(fixture) {
    const accountId = await fixture.account(10_000);
    const session = await fixture.reserve(accountId, { requestedMs: 2_000 });
    await fixture.claim(session);
    await fixture.close(session, { samples: 1_000_000 });
    must(await figures(fixture, accountId), [8_000, 0, 2_000], 'after the end');
  },
  async 'a failed session costs nothing'(fixture) {
    const accountId = await fixture.account(10_000);
    const session = await fixture.reserve(accountId);
    await fixture.claim(session);
    await fixture.close(session, { status: 'failed', samples: 32_000 });
    must(await figures(fixture, accountId), [10_000, 0, 0], 'after the failure');
  },
  async 'a close counts once'(fixture) {
    const accountId = await fixture.account(60_000);
    const session = await fixture.reserve(accountId);
    await fixture.claim(session);
    const end = () => fixture.close(session, { samples: 16_000 });
    const answers = await Promise.all([end(), end(), end(), end()]);
    must(countOf(answers, 'closed'), 1, 'closes that counted');
    must(await figures(fixture, accountId), [59_000, 0, 1_000], 'after them');
  },
  async 'only its own node can close a stream'(fixture) {
    const session = await fixture.reserve(await fixture.account(60_000));
    await fixture.claim(session);
    const foreign = await fixture.close(session, { nodeId: 'another' }).catch(() => 'refused');
    must(foreign, 'refused', 'a close by another node');
  },
  async 'only its own upgrade gives a stream up'(fixture) {
    const session = await fixture.reserve(await fixture.account(60_000));
    await fixture.claim(session);
    const lost = { status: 'failed', upgradeId: randomUUID() } as const;
    must(await fixture.close(session, lost), 'superseded', 'a close by another upgrade');
    must(await fixture.close(session, { samples: 16_000 }), 'closed', 'the close');
  },
  async 'a claim that opened no stream keeps its credential good'(fixture) {
    const accountId = await fixture.account(60_000);
    const session = await fixture.reserve(accountId);
    const lost = randomUUID();
    for (const outcome of ['given_back', 'not_claimed']) {
      if (outcome === 'given_back') await fixture.claim(session, lost);
      must(await fixture.giveBack(session, lost), outcome, 'giving it back');
      must(await fixture.claim(session, lost), 'used', 'its late repetition');
    }
    must(await figures(fixture, accountId), [0, 60_000, 0], 'reserved again');
    must(await fixture.claim(session), 'claimed', 'the next upgrade');
    must(await fixture.giveBack(session, lost), 'not_claimed', 'giving it back again');
    must(await fixture.close(session, { samples: 16_000 }), 'closed', 'the stream goes on');
  },
  async 'one reservation at a time'(fixture) {
    must(await race(fixture, await fixture.account(6_000_000), 8), 1, 'winners of eight');
  },
  async 'a limit of three allows three sessions'(fixture) {
    const accountId = await fixture.account(6_000_000);
    await setConcurrency(fixture.owner, { id: accountId, limit: 3 });
    must(await race(fixture, accountId, 8), 3, 'winners of eight');
  },
  async 'a lowered limit is not exceeded'(fixture) {
    const accountId = await fixture.account(6_000_000);
    await setConcurrency(fixture.owner, { id: accountId, limit: 2 });
    const first = await fixture.reserve(accountId);
    await fixture.claim(first);
    await fixture.reserve(accountId);
    await setConcurrency(fixture.owner, { id: accountId, limit: 1 });
    await fixture.close(first);
    must((await fixture.tryReserve(accountId)).outcome, 'concurrency_limit_exceeded', 'one more');
  },
  async 'a lost session makes room for another, up to twice the limit'(fixture) {
    const accountId = await fixture.account(6_000_000);
    const lose = ({ id }: { readonly id: string }) =>
      fixture.owner.query('select request_takeover($1, $2, $3)', [accountId, id, 'proof']);
    const first = await fixture.reserve(accountId);
    await fixture.claim(first);
    must((await fixture.tryReserve(accountId)).outcome, 'concurrency_limit_exceeded', 'a second');
    await lose(first);
    const second = await fixture.tryReserve(accountId);
    must(second.outcome, 'reserved', 'one in place of the lost one');
    if (second.outcome === 'reserved') {
      await fixture.claim(second.session);
      await lose(second.session);
    }
    must((await fixture.tryReserve(accountId)).outcome, 'concurrency_limit_exceeded', 'a third');
    const poor = await fixture.account(10_000);
    const all = await fixture.reserve(poor, { requestedMs: 10_000 });
    await fixture.claim(all);
    await fixture.owner.query('select request_takeover($1, $2, $3)', [poor, all.id, 'proof']);
    must((await fixture.tryReserve(poor)).outcome, 'concurrency_limit_exceeded', 'without credit');
  },
  async 'a reservation that its client could not open is released at once'(fixture) {
    const accountId = await fixture.account(10_000);
    for (let node = 1; node <= 3; node += 1) {
      const given = await fixture.tryReserve(accountId, { requestedMs: 10_000 });
      must(given.outcome, 'reserved', `on node ${node}`);
      const id = given.outcome === 'reserved' ? given.session.id : '';
      await fixture.owner.query('select request_takeover($1, $2, $3)', [accountId, id, 'proof']);
    }
  },
  async 'a replay returns the same reservation'(fixture) {
    const accountId = await fixture.account(600_000);
    const wish = { idempotencyKey: 'key' };
    const first = await fixture.reserve(accountId, wish);
    const again = await fixture.tryReserve(accountId, wish);
    must(again, { outcome: 'reserved', replayed: true, session: first }, 'the replay');
  },
  async 'a reservation whose response was lost is found by its retry'(fixture) {
    const accountId = await fixture.account(600_000);
    const { id } = await fixture.reserve(accountId);
    const { rows } = await fixture.owner.query<{ session_id: string | null }>(
      `select session_id from reserve_session($1, $2, true, null, 'svc-asr-kikuyu-v1', 60000, null, null, $3, $4)`,
      [accountId, id, NODE.id, NODE.publicUrl],
    );
    must(rows[0]?.session_id, id, 'the retry');
  },
  async 'an idempotency key belongs to one request'(fixture) {
    const accountId = await fixture.account(600_000);
    await fixture.reserve(accountId, { idempotencyKey: 'key' });
    const other = await fixture.tryReserve(accountId, {
      idempotencyKey: 'key',
      requestedMs: 1_000,
    });
    must(other.outcome, 'idempotency_conflict', 'another request');
  },
  async 'an idempotency key can be reused after its expiry'(fixture) {
    const accountId = await fixture.account(600_000);
    const first = await fixture.reserve(accountId, { idempotencyKey: 'key' });
    await fixture.expire(first);
    const second = await fixture.tryReserve(accountId, { idempotencyKey: 'key' });
    must(second.outcome === 'reserved' && second.replayed, false, 'a replay after the expiry');
  },
  async 'a credential works once'(fixture) {
    const session = await fixture.reserve(await fixture.account(60_000));
    const outcomes = await meanwhileHolding(
      fixture,
      { sql: HOLD_SESSION, values: [session.id] },
      Array.from({ length: 6 }, () => () => fixture.claim(session)),
    );
    must(countOf(outcomes, 'claimed'), 1, 'winners of six');
    must(await fixture.claim(session), 'used', 'a later one');
  },
  async 'an upgrade whose response was lost can be retried'(fixture) {
    const session = await fixture.reserve(await fixture.account(60_000));
    const attempt = randomUUID();
    await fixture.claim(session, attempt);
    must(await fixture.claim(session, attempt), 'claimed', 'the same upgrade');
  },
  async 'a credential works for a minute'(fixture) {
    const session = await fixture.reserve(await fixture.account(60_000));
    await fixture.expire(session);
    must(await fixture.claim(session), 'expired', 'a claim after the expiry');
  },
  async 'a claim that waited past the expiry loses'(fixture) {
    const session = await fixture.reserve(await fixture.account(60_000));
    await backdateSession(fixture.owner, { sessionId: session.id, ms: 60_000 - LIFE_LEFT_MS });
    const expiry = `select pg_sleep_until(expires_at + interval '1 ms') from sessions where id = $1`;
    const [outcome] = await meanwhileHolding(
      fixture,
      { sql: HOLD_SESSION, values: [session.id], until: expiry },
      [() => fixture.claim(session)],
    );
    must(outcome, 'expired', 'the late claim');
  },
  async 'an expired reservation frees its slot'(fixture) {
    const accountId = await fixture.account(60_000);
    await fixture.expire(await fixture.reserve(accountId));
    must((await fixture.tryReserve(accountId)).outcome, 'reserved', 'the next one');
  },
  async 'the sweeper returns expired reservations and nothing else'(fixture) {
    const expired = await fixture.account(60_000);
    const waiting = await fixture.account(60_000);
    await fixture.expire(await fixture.reserve(expired));
    await fixture.reserve(waiting);
    await fixture.ledger.sweep();
    const { rows } = await fixture.owner.query<{ id: string; reserved_ms: number }>(
      'select id, reserved_ms from accounts where id = any ($1)',
      [[expired, waiting]],
    );
    must(
      rows.find(({ id }) => id === expired)?.reserved_ms,
      0,
      'still reserved for the expired one',
    );
    must(rows.find(({ id }) => id === waiting)?.reserved_ms, 60_000, 'reserved for the other');
  },
  async 'a sweep leaves sessions that ended while it ran'(fixture) {
    const one = await fixture.reserve(await fixture.account(60_000));
    const other = await fixture.reserve(await fixture.account(60_000));
    await fixture.expire(one);
    await fixture.expire(other);
    // The sweep has found both and waits to post one of them. The holder ends the other one.
    await meanwhileHolding(
      fixture,
      {
        sql: 'lock table txn in share mode',
        values: [],
        until: `with free as (select id from accounts for no key update skip locked)
          select close_session(s.account_id, s.id, 'failed', 0, s.node_id, 1, null)
          from sessions s join free on free.id = s.account_id where s.id in ('${one.id}', '${other.id}'); commit`,
      },
      [() => fixture.ledger.sweep()],
    );
    for (const { accountId } of [one, other]) {
      must(await figures(fixture, accountId), [60_000, 0, 0], 'after the sweep');
    }
  },
  async 'a session whose close was lost ends after twenty minutes'(fixture) {
    const session = await fixture.reserve(await fixture.account(60_000));
    await fixture.claim(session);
    await backdateSession(fixture.owner, { sessionId: session.id, ms: 21 * 60_000 });
    // For some seconds after its start, the database takes no stream for lost.
    await eventually(async () => {
      await fixture.owner.query(
        `update sweeper_watch set last_tick_at = clock_timestamp(), quiet_until = '-infinity'`,
      );
      return (await fixture.ledger.sweep()).quietMs === 0;
    }, 30_000);
    const balance = await fixture.ledger.balance(session.accountId);
    must(balance?.recentSessions[0]?.status, 'failed', 'the stream');
  },
  async 'a lease lasts six seconds'(fixture) {
    await registerNode(fixture.owner, { ...NODE, id: 'leased' });
    const { rows } = await fixture.owner.query<{ seconds: number }>(
      `select extract(epoch from lease_until - renewed_at)::float as seconds from nodes where id = 'leased'`,
    );
    must(rows[0]?.seconds, 6, 'a lease');
  },
  async 'a restarted node frees its accounts and no others'(fixture) {
    const orphaned = await fixture.reserve(await fixture.account(60_000));
    const served = await fixture.reserve(await fixture.account(60_000));
    const node = { ...NODE, id: 'restarted' };
    const nodeEpoch = await registerNode(fixture.owner, node);
    const claim = { sessionId: orphaned.id, accountId: orphaned.accountId, nodeEpoch };
    await fixture.ledger.claim({ ...claim, nodeId: node.id });
    await fixture.claim(served);
    await registerNode(fixture.owner, node);
    await fixture.ledger.sweep();
    const statusOf = async (accountId: string) =>
      (await fixture.ledger.balance(accountId))?.recentSessions[0]?.status;
    must(await statusOf(orphaned.accountId), 'failed', 'the stream of the process that died');
    must(await statusOf(served.accountId), 'active', 'the stream of a healthy node');
  },
  async 'no stream fails for a lease that expired during a database outage'(fixture) {
    const session = await fixture.reserve(await fixture.account(60_000));
    await fixture.claim(session);
    await fixture.owner.query(
      `update nodes set lease_until = clock_timestamp() - interval '1 second' where id = $1`,
      [NODE.id],
    );
    await fixture.owner.query(
      `update sweeper_watch set last_tick_at = clock_timestamp() - interval '20 seconds'`,
    );
    await fixture.ledger.sweep();
    await fixture.owner.query(`update nodes set lease_until = 'infinity' where id = $1`, [NODE.id]);
    const balance = await fixture.ledger.balance(session.accountId);
    must(balance?.recentSessions[0]?.status, 'active', 'the stream');
  },
  async 'a close after the sweep counts once, in time, by its own process, as far as credit lasts'(
    fixture,
  ) {
    const node = { ...NODE, id: 'seemed-dead' };
    const stream = async (creditMs: number) => {
      const session = await fixture.reserve(await fixture.account(creditMs));
      const nodeEpoch = await registerNode(fixture.owner, node);
      const owner = { sessionId: session.id, accountId: session.accountId, nodeEpoch };
      await fixture.ledger.claim({ ...owner, nodeId: node.id });
      await registerNode(fixture.owner, node);
      await fixture.ledger.sweep();
      return { session, end: { nodeId: node.id, nodeEpoch, samples: 20_000 } };
    };
    const foreign = await stream(60_000);
    const newer = { ...foreign.end, nodeEpoch: foreign.end.nodeEpoch + 1 };
    must(await fixture.close(foreign.session, newer), 'already', 'a close by a newer process');
    const tooLate = await stream(60_000);
    await backdateSweep(fixture.owner, { sessionId: tooLate.session.id, ms: 300_000 });
    must(await fixture.close(tooLate.session, tooLate.end), 'already', 'a close after the window');
    const lost = await stream(60_000);
    const untold = { ...lost.end, isTold: false };
    must(await fixture.close(lost.session, untold), 'already', 'a close without its client');
    const { session, end } = await stream(10_000);
    await fixture.reserve(session.accountId, { requestedMs: 9_000 });
    must(await fixture.close(session, end), 'settled_late', 'the close');
    must(await fixture.close(session, end), 'already', 'the same close again');
    must(await figures(fixture, session.accountId), [0, 9_000, 1_000], 'after it');
  },
  async 'audio that is sent again is charged once'(fixture) {
    const accountId = await fixture.account(60_000);
    const stream = async (end: Partial<CloseInput>) => {
      const session = await fixture.reserve(accountId, { requestedMs: 10_000 });
      await fixture.claim(session);
      must(await fixture.close(session, end), 'closed', 'a close');
      return session.id;
    };
    const lost = { lengths: [16_000, 16_000], digests: ['a', 'b'] };
    const first = await stream({ samples: 32_000, lost });
    const replayed = { sessionId: first, samples: 16_000 };
    await stream({ samples: 24_000, replayed });
    must(await figures(fixture, accountId), [57_000, 0, 3_000], 'after the replay');
    await stream({ samples: 24_000, replayed });
    must(await figures(fixture, accountId), [55_000, 0, 5_000], 'after the same again');
    const short = await stream({ samples: 16_000, lost });
    await stream({ samples: 48_000, replayed: { sessionId: short, samples: 48_000 } });
    must(await figures(fixture, accountId), [52_000, 0, 8_000], 'after a longer one');
    const free = await stream({ status: 'failed', samples: 16_000, lost });
    await stream({ samples: 16_000, replayed: { sessionId: free, samples: 16_000 } });
    must(await figures(fixture, accountId), [51_000, 0, 9_000], 'after a free session');
  },
  async 'audio that is sent again is charged if it was not paid'(fixture) {
    const node = { ...NODE, id: 'seemed-dead' };
    const session = await fixture.reserve(await fixture.account(10_000));
    const { accountId } = session;
    const nodeEpoch = await registerNode(fixture.owner, node);
    await fixture.ledger.claim({ sessionId: session.id, accountId, nodeId: node.id, nodeEpoch });
    await registerNode(fixture.owner, node);
    await fixture.ledger.sweep();
    const next = await fixture.reserve(accountId, { requestedMs: 9_000 });
    await fixture.claim(next);
    const lost = { lengths: [32_000], digests: ['a'] };
    const end = { nodeId: node.id, nodeEpoch, samples: 32_000, lost };
    must(await fixture.close(session, end), 'settled_late', 'the late close');
    const replayed = { sessionId: session.id, samples: 32_000 };
    must(await fixture.close(next, { samples: 32_000, replayed }), 'closed', 'the close');
    must(await figures(fixture, accountId), [7_000, 0, 3_000], 'after it');
  },
  async 'only whole seconds are reserved, and at least one'(fixture) {
    must((await fixture.reserve(await fixture.account(7_999))).reservedMs, 7_000, 'of 7,999 ms');
    must(
      (await fixture.tryReserve(await fixture.account(999))).outcome,
      'insufficient_credits',
      'of 999 ms',
    );
  },
  async 'a suspended account can neither reserve nor claim'(fixture) {
    const accountId = await fixture.account(60_000);
    const session = await fixture.reserve(accountId);
    await setAccountStatus(fixture.owner, { id: accountId, status: 'suspended' });
    must(await fixture.claim(session), 'account_inactive', 'a claim');
    must((await fixture.tryReserve(accountId)).outcome, 'account_inactive', 'a reservation');
  },
  async 'credit is posted once and never goes below zero'(fixture) {
    const accountId = await fixture.account(0);
    const ledger = createLedger(fixture.owner);
    const credit = { accountId, ms: 5_000, reason: 'a test', actor: 'test', id: randomUUID() };
    await ledger.grant(credit);
    await ledger.grant(credit);
    const taken = await ledger.adjust({ ...credit, ms: -6_000, id: randomUUID() });
    must(taken.outcome, 'insufficient_credits', 'removing more than the balance');
    must(await figures(fixture, accountId), [5_000, 0, 0], 'after them');
  },
} as const satisfies Record<string, (fixture: LedgerFixture) => Promise<void>>;

export type PromiseName = keyof typeof PROMISES;
