import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { setAccountStatus, setConcurrency } from '../../src/accounts/accounts.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { NODE, openCheckedLedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';

const fixture = await openCheckedLedgerFixture();

describe('a session', () => {
  test('C01 C03 reserves credit, charges accepted audio rounded up, and returns the rest', async () => {
    const accountId = await fixture.account(10_000);
    const session = await fixture.reserve(accountId, { requestedMs: 8_000 });
    expect(session).toMatchObject({ reservedMs: 8_000, remainingMs: 2_000 });
    expect(session.expiresAt.getTime() - session.createdAt.getTime()).toBe(60_000);

    expect(await fixture.claim(session)).toBe('claimed');
    expect(await fixture.claim(session)).toBe('used');
    expect(await fixture.close(session, { samples: 19_200 })).toBe('closed');
    expect(await fixture.close(session, { samples: 99_999 })).toBe('already');
    expect(await fixture.ledger.balance(accountId)).toMatchObject({
      availableMs: 8_000,
      reservedMs: 0,
      consumedMs: 2_000,
      recentSessions: [{ id: session.id, status: 'completed', audioMs: 1_200, billableMs: 2_000 }],
    });
  });

  test.for([
    { samples: 0, billableMs: 0 },
    { samples: 1, billableMs: 1_000 },
    { samples: 15_999, billableMs: 1_000 },
    { samples: 16_000, billableMs: 1_000 },
    { samples: 16_001, billableMs: 2_000 },
    { samples: 160_000, billableMs: 10_000 },
    { samples: 9_999_999, billableMs: 10_000 },
  ])(
    'C03 with 10 s reserved, $samples samples cost $billableMs ms',
    async ({ samples, billableMs }) => {
      const accountId = await fixture.account(10_000);
      const session = await fixture.reserve(accountId, { requestedMs: 10_000 });
      await fixture.claim(session);
      await fixture.close(session, { samples });
      expect(await fixture.ledger.balance(accountId)).toMatchObject({
        availableMs: 10_000 - billableMs,
        consumedMs: billableMs,
      });
    },
  );

  test('C04 is not charged if it failed, however much audio was accepted', async () => {
    const accountId = await fixture.account(60_000);
    const session = await fixture.reserve(accountId);
    await fixture.claim(session);
    expect(await fixture.close(session, { status: 'failed', samples: 32_000 })).toBe('closed');
    expect(await fixture.ledger.balance(accountId)).toMatchObject({
      availableMs: 60_000,
      consumedMs: 0,
      recentSessions: [{ status: 'failed', audioMs: 2_000, billableMs: 0 }],
    });
  });

  test('C05 counts as expired at its expiry if unclaimed, before the sweeper runs', async () => {
    const accountId = await fixture.account(60_000);
    const session = await fixture.reserve(accountId);
    await fixture.expire(session);
    const overdue = await fixture.ledger.balance(accountId);
    expect(overdue).toMatchObject({ availableMs: 60_000, reservedMs: 0 });
    expect(overdue?.recentSessions).toMatchObject([{ id: session.id, status: 'expired' }]);
    expect(overdue?.recentSessions[0]?.completedAt?.getTime()).toBe(
      session.expiresAt.getTime() - 60_000,
    );
    expect(await fixture.claim(session)).toBe('expired');
    expect(await fixture.close(session, { status: 'failed' })).toBe('already');
    expect(await fixture.ledger.balance(accountId)).toEqual(overdue);
  });

  test('is not closed by another node', async () => {
    const accountId = await fixture.account(60_000);
    const session = await fixture.reserve(accountId);
    await fixture.claim(session);
    await expect(fixture.close(session, { nodeId: 'node-2' })).rejects.toThrow('another node');
    await expect(fixture.close(session, { nodeEpoch: fixture.nodeEpoch + 1 })).rejects.toThrow(
      'another node',
    );
    expect(await fixture.close(session)).toBe('closed');
  });

  test.for(['completed', 'failed'] as const)(
    'cannot be closed as %s before it is claimed',
    async (status) => {
      const session = await fixture.reserve(await fixture.account(60_000));
      await expect(fixture.close(session, { status })).rejects.toThrow('never claimed');
      expect(await fixture.claim(session)).toBe('claimed');
    },
  );
});

describe('a claim that is given back', () => {
  test('leaves the session reserved until its own expiry, and another upgrade claims it', async () => {
    const accountId = await fixture.account(60_000);
    const session = await fixture.reserve(accountId);
    const upgradeId = randomUUID();
    await fixture.claim(session, upgradeId);
    expect(await fixture.giveBack(session, upgradeId)).toBe('given_back');
    expect(await fixture.ledger.balance(accountId)).toMatchObject({
      reservedMs: 60_000,
      recentSessions: [{ status: 'reserved', expiresAt: session.expiresAt, completedAt: null }],
    });
    expect(await fixture.claim(session)).toBe('claimed');
    expect(await fixture.close(session, { samples: 16_001 })).toBe('closed');
    expect(await fixture.ledger.balance(accountId)).toMatchObject({ consumedMs: 2_000 });
  });

  test('is refused when its statement arrives late', async () => {
    const session = await fixture.reserve(await fixture.account(60_000));
    const upgradeId = randomUUID();
    expect(await fixture.giveBack(session, upgradeId)).toBe('not_claimed');
    expect(await fixture.claim(session, upgradeId)).toBe('used');
    expect(await fixture.claim(session)).toBe('claimed');
  });

  test('expires with its session', async () => {
    const accountId = await fixture.account(60_000);
    const session = await fixture.reserve(accountId);
    const upgradeId = randomUUID();
    await fixture.claim(session, upgradeId);
    await fixture.expire(session);
    expect(await fixture.giveBack(session, upgradeId)).toBe('given_back');
    expect(await fixture.claim(session)).toBe('expired');
    expect(await fixture.ledger.balance(accountId)).toMatchObject({
      availableMs: 60_000,
      recentSessions: [{ status: 'expired' }],
    });
  });

  test('changes nothing about the stream of another upgrade, or one that has ended', async () => {
    const session = await fixture.reserve(await fixture.account(60_000));
    const upgradeId = randomUUID();
    await fixture.claim(session, upgradeId);
    expect(await fixture.giveBack(session, randomUUID())).toBe('not_claimed');
    expect(await fixture.close(session, { upgradeId, samples: 16_000 })).toBe('closed');
    expect(await fixture.giveBack(session, upgradeId)).toBe('not_claimed');
    expect(await fixture.claim(session, upgradeId)).toBe('used');
  });
});

describe('a process of an earlier version that gives a session up', () => {
  test.for([{ nodeId: NODE.id }, { nodeId: 'another node' }])(
    'leaves the stream of another upgrade alone, given up by $nodeId',
    async ({ nodeId }) => {
      const accountId = await fixture.account(60_000);
      const session = await fixture.reserve(accountId);
      const upgradeId = randomUUID();
      await fixture.claim(session, upgradeId);
      const lost = { nodeId, upgradeId: randomUUID(), status: 'failed' } as const;
      expect(await fixture.close(session, lost)).toBe('superseded');
      expect(await fixture.close(session, { upgradeId, samples: 16_001 })).toBe('closed');
      expect(await fixture.ledger.balance(accountId)).toMatchObject({ consumedMs: 2_000 });
    },
  );
});

describe('a claim', () => {
  test('W02 can be retried by the same upgrade, but not by another one with the same credential', async () => {
    const session = await fixture.reserve(await fixture.account(60_000));
    const attempt = randomUUID();
    expect(await fixture.claim(session, attempt)).toBe('claimed');
    expect(await fixture.claim(session, attempt)).toBe('claimed');
    expect(await fixture.claim(session, randomUUID())).toBe('used');
    await fixture.close(session);
    expect(await fixture.claim(session, attempt)).toBe('used');
  });

  test('W02 is won by exactly one of sixteen concurrent claims', async () => {
    const session = await fixture.reserve(await fixture.account(60_000));
    const outcomes = await Promise.all(Array.from({ length: 16 }, () => fixture.claim(session)));
    expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'used')).toHaveLength(15);
  });

  test('of a suspended account is refused and the credential is not spent', async () => {
    const accountId = await fixture.account(60_000);
    const session = await fixture.reserve(accountId);
    await setAccountStatus(fixture.owner, { id: accountId, status: 'suspended' });
    expect(await fixture.claim(session)).toBe('account_inactive');
    await setAccountStatus(fixture.owner, { id: accountId, status: 'active' });
    expect(await fixture.claim(session)).toBe('claimed');
  });

  test('of a session that another account names is unknown', async () => {
    const session = await fixture.reserve(await fixture.account(60_000));
    const stranger = { ...session, accountId: await fixture.account(0) };
    expect(await fixture.claim(stranger)).toBe('unknown');
  });
});

describe('credit', () => {
  test('S09 below one second (999 ms) reserves nothing', async () => {
    expect(await fixture.tryReserve(await fixture.account(999))).toEqual({
      outcome: 'insufficient_credits',
    });
    expect(await fixture.tryReserve(await fixture.account(0))).toEqual({
      outcome: 'insufficient_credits',
    });
  });

  test('S08 below the requested amount is reserved in whole seconds', async () => {
    const session = await fixture.reserve(await fixture.account(7_999));
    expect(session).toMatchObject({ reservedMs: 7_000, remainingMs: 999 });
  });

  test('is granted once however often the grant is sent, and refused for another amount', async () => {
    const accountId = await fixture.account(0);
    const grant = { accountId, ms: 5_000, reason: 'welcome', actor: 'amina', id: randomUUID() };
    const ledger = createLedger(fixture.database.as('svc_operator'));
    const answers = await Promise.all(Array.from({ length: 4 }, () => ledger.grant(grant)));
    expect(answers.filter((a) => a.outcome === 'posted' && !a.replayed)).toHaveLength(1);
    expect(answers.filter((a) => a.outcome === 'posted' && a.replayed)).toHaveLength(3);
    expect(await ledger.grant({ ...grant, ms: 6_000 })).toEqual({ outcome: 'request_conflict' });
    await expect(ledger.grant({ ...grant, ms: -1, id: randomUUID() })).rejects.toThrow(
      'a grant adds credit',
    );
    const taken = { ...grant, ms: -5_001, reason: 'too much', id: randomUUID() };
    expect(await ledger.adjust(taken)).toEqual({
      outcome: 'insufficient_credits',
      availableMs: 5_000,
    });
    expect(await fixture.ledger.balance(accountId)).toMatchObject({ availableMs: 5_000 });
  });
});

describe('one reservation at a time', () => {
  test('S18 a live session blocks the next one and reports for how long', async () => {
    const accountId = await fixture.account(120_000);
    const session = await fixture.reserve(accountId);
    const blocked = await fixture.tryReserve(accountId);
    expect(blocked).toMatchObject({ outcome: 'concurrency_limit_exceeded', blocker: 'reserved' });
    const retryAfterMs = 'retryAfterMs' in blocked ? blocked.retryAfterMs : -1;
    expect(retryAfterMs).toBeGreaterThan(0);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    await fixture.claim(session);
    expect(await fixture.tryReserve(accountId)).toEqual({
      outcome: 'concurrency_limit_exceeded',
      blocker: 'active',
      retryAfterMs: 5_000,
    });
  });

  test('S18 is checked before credit, and credit before capacity', async () => {
    const accountId = await fixture.account(60_000);
    await fixture.reserve(accountId);
    expect((await fixture.tryReserve(accountId, { node: null })).outcome).toBe(
      'concurrency_limit_exceeded',
    );
    const empty = await fixture.account(0);
    expect((await fixture.tryReserve(empty, { node: null })).outcome).toBe('insufficient_credits');
    const funded = await fixture.account(60_000);
    expect((await fixture.tryReserve(funded, { node: null })).outcome).toBe('no_capacity');
  });

  test('S18 closes an expired reservation of the account and reuses its credit', async () => {
    const accountId = await fixture.account(60_000);
    const expired = await fixture.reserve(accountId);
    await fixture.expire(expired);
    const next = await fixture.reserve(accountId);
    expect(next).toMatchObject({ reservedMs: 60_000, remainingMs: 0 });
    expect((await fixture.ledger.balance(accountId))?.recentSessions).toMatchObject([
      { id: next.id, status: 'reserved' },
      { id: expired.id, status: 'expired' },
    ]);
  });

  test('S18 one of sixteen concurrent reservations wins', async () => {
    const accountId = await fixture.account(6_000_000);
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => fixture.tryReserve(accountId)),
    );
    expect(answers.filter(({ outcome }) => outcome === 'reserved')).toHaveLength(1);
  });

  test('a raised limit allows that many sessions and no more', async () => {
    const accountId = await fixture.account(6_000_000);
    await setConcurrency(fixture.owner, { id: accountId, limit: 3 });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => fixture.tryReserve(accountId)),
    );
    expect(answers.filter(({ outcome }) => outcome === 'reserved')).toHaveLength(3);
  });

  test('does not exceed a lowered limit, even if a lower slot is free', async () => {
    const accountId = await fixture.account(6_000_000);
    await setConcurrency(fixture.owner, { id: accountId, limit: 3 });
    const first = await fixture.reserve(accountId);
    await fixture.reserve(accountId);
    const third = await fixture.reserve(accountId);
    await setConcurrency(fixture.owner, { id: accountId, limit: 1 });
    for (const session of [first, third]) await fixture.claim(session);
    await fixture.close(first);
    expect((await fixture.tryReserve(accountId)).outcome).toBe('concurrency_limit_exceeded');
    await fixture.close(third);
    expect((await fixture.tryReserve(accountId)).outcome).toBe('concurrency_limit_exceeded');
  });

  test('S02 refuses a suspended account', async () => {
    const accountId = await fixture.account(60_000);
    await setAccountStatus(fixture.owner, { id: accountId, status: 'suspended' });
    expect(await fixture.tryReserve(accountId)).toEqual({ outcome: 'account_inactive' });
    expect(await fixture.tryReserve(randomUUID())).toEqual({ outcome: 'account_inactive' });
  });
});

describe('a replay', () => {
  test('S16 returns the same reservation after activation and after its end, until it expires', async () => {
    const accountId = await fixture.account(600_000);
    const wish = { idempotencyKey: 'order-1', requestedMs: 60_000 };
    const first = await fixture.reserve(accountId, wish);
    const replayed = { outcome: 'reserved', replayed: true, session: first };
    expect(await fixture.tryReserve(accountId, wish)).toEqual(replayed);
    expect(await fixture.tryReserve(accountId, { ...wish, node: null })).toEqual(replayed);
    await fixture.claim(first);
    expect(await fixture.tryReserve(accountId, wish)).toEqual(replayed);
    await fixture.close(first, { samples: 16_000 });
    expect(await fixture.tryReserve(accountId, wish)).toEqual(replayed);
    await fixture.expire(first);
    const second = await fixture.reserve(accountId, wish);
    expect(second.id).not.toBe(first.id);
  });

  test('S17 with a different body is a conflict; the same key in another account is not', async () => {
    const accountId = await fixture.account(600_000);
    await fixture.reserve(accountId, { idempotencyKey: 'order-1' });
    expect(
      await fixture.tryReserve(accountId, { idempotencyKey: 'order-1', requestedMs: 59_000 }),
    ).toEqual({
      outcome: 'idempotency_conflict',
    });
    const other = { idempotencyKey: 'order-1', model: 'svc-asr-dholuo-v1' } as const;
    expect(await fixture.tryReserve(accountId, other)).toEqual({ outcome: 'idempotency_conflict' });
    expect((await fixture.tryReserve(await fixture.account(60_000), other)).outcome).toBe(
      'reserved',
    );
  });

  test('S16 concurrent requests with one key get one reservation', async () => {
    const accountId = await fixture.account(600_000);
    const twins = await Promise.all(
      Array.from({ length: 16 }, () => fixture.reserve(accountId, { idempotencyKey: 'twin' })),
    );
    expect(new Set(twins.map(({ id }) => id)).size).toBe(1);
    expect(await fixture.ledger.balance(accountId)).toMatchObject({ reservedMs: 60_000 });
  });

  test('K01 keeps only a hash of the key', async () => {
    const accountId = await fixture.account(60_000);
    const key = `customer-${randomUUID()}`;
    await fixture.reserve(accountId, { idempotencyKey: key });
    const { rows } = await fixture.owner.query<{ found: number }>(
      `select count(*) as found from idempotency where encode(key_hash, 'escape') like $1`,
      [`%${key}%`],
    );
    expect(rows).toEqual([{ found: 0 }]);
  });
});
