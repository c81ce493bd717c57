import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { usageByDay } from '../../src/accounts/usage-days.ts';
import type { CloseInput, ReservedSession } from '../../src/ledger/ledger.ts';
import { registerNode } from '../../src/nodes/nodes.ts';
import { NODE, openCheckedLedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';
import { backdateSweep } from '@svc-asr/testing/postgres/time-travel.ts';

/** The sweeper took a node for dead and failed its session. Then the node closes it. */
const fixture = await openCheckedLedgerFixture();

const WINDOW_MS = 5 * 60_000;

interface Swept {
  readonly accountId: string;
  readonly session: ReservedSession;
  readonly close: (end?: Partial<CloseInput>) => Promise<string>;
}

/** A stream that the sweeper failed because another process registered under the id of its node. */
async function sweptSession(input: { creditMs: number; reservedMs?: number }): Promise<Swept> {
  const accountId = await fixture.account(input.creditMs);
  const session = await fixture.reserve(accountId, { requestedMs: input.reservedMs ?? 60_000 });
  const node = { ...NODE, id: `node-${randomUUID()}` };
  const nodeEpoch = await registerNode(fixture.owner, node);
  const owner = { sessionId: session.id, accountId, nodeId: node.id, nodeEpoch };
  await fixture.ledger.claim({ ...owner, upgradeId: randomUUID() });
  await registerNode(fixture.owner, node);
  await fixture.ledger.sweep();
  expect(await recent(accountId)).toMatchObject([{ status: 'failed', billableMs: 0 }]);
  return {
    accountId,
    session,
    close: (end) =>
      fixture.ledger.close({ ...owner, status: 'completed', samples: 24_000, ...end }),
  };
}

async function recent(accountId: string): Promise<readonly unknown[]> {
  return (await fixture.ledger.balance(accountId))?.recentSessions ?? [];
}

test('the node that served it settles the accepted audio, once', async () => {
  const { accountId, close } = await sweptSession({ creditMs: 60_000 });
  const answers = await Promise.all([close(), close(), close(), close()]);
  expect(answers.toSorted()).toEqual(['already', 'already', 'already', 'settled_late']);
  expect(await fixture.ledger.balance(accountId)).toMatchObject({
    availableMs: 58_000,
    reservedMs: 0,
    consumedMs: 2_000,
    recentSessions: [{ status: 'completed', audioMs: 1_500, billableMs: 2_000 }],
  });
  expect(await usageByDay(fixture.owner, { accountId, days: 2 })).toMatchObject([
    { billableMs: 2_000, sessions: 1 },
  ]);
});

test.each([
  ['all of it', 2_999, 2_000],
  ['one second', 1_999, 1_000],
  ['nothing', 999, 0],
])(
  'charges only whole seconds that are still available: %s of 2 s, with %i ms left',
  async (_, leftMs, chargedMs) => {
    const { accountId, close } = await sweptSession({ creditMs: 30_000 });
    const next = await fixture.reserve(accountId, { requestedMs: 26_000 });
    await adjust(accountId, leftMs - 4_000);
    expect(await close()).toBe('settled_late');
    expect(await fixture.ledger.balance(accountId)).toMatchObject({
      availableMs: leftMs - chargedMs,
      reservedMs: next.reservedMs,
      consumedMs: chargedMs,
    });
  },
);

test('charges at most the reservation', async () => {
  const { accountId, close } = await sweptSession({ creditMs: 60_000, reservedMs: 2_000 });
  expect(await close({ samples: 10_000_000 })).toBe('settled_late');
  expect(await fixture.ledger.balance(accountId)).toMatchObject({ consumedMs: 2_000 });
});

test.each<[string, Partial<CloseInput>]>([
  ['of another node', { nodeId: 'node-2' }],
  ['of another process under the same id', { nodeEpoch: 2 }],
  ['that tells the client of a failure', { status: 'failed' }],
])('a late close %s changes nothing', async (_, end) => {
  const { accountId, close } = await sweptSession({ creditMs: 60_000 });
  const before = await fixture.ledger.balance(accountId);
  expect(await close(end)).toBe('already');
  expect(await fixture.ledger.balance(accountId)).toEqual(before);
});

test('a close more than five minutes after the sweep changes nothing', async () => {
  const { accountId, session, close } = await sweptSession({ creditMs: 60_000 });
  await backdateSweep(fixture.owner, { sessionId: session.id, ms: WINDOW_MS });
  expect(await close()).toBe('already');
  expect(await fixture.ledger.balance(accountId)).toMatchObject({ consumedMs: 0 });
});

test('a late close after the clock was set back is no finding of the audit', async () => {
  const { session, close } = await sweptSession({ creditMs: 60_000 });
  await backdateSweep(fixture.owner, { sessionId: session.id, ms: -WINDOW_MS });
  expect(await close()).toBe('settled_late');
  await fixture.expectInvariantsHold();
});

test('a session that its own node failed stays failed', async () => {
  const accountId = await fixture.account(60_000);
  const session = await fixture.reserve(accountId);
  await fixture.claim(session);
  await fixture.close(session, { status: 'failed' });
  expect(await fixture.close(session, { samples: 16_000 })).toBe('already');
  expect(await recent(accountId)).toMatchObject([{ status: 'failed' }]);
});

test('an account that leaves this cell is not changed', async () => {
  const { accountId, close } = await sweptSession({ creditMs: 60_000 });
  const { rows } = await fixture.owner.query<{ move: string }>(
    `select freeze_account($1, 'k2') as move`,
    [accountId],
  );
  await fixture.owner.query('select seal_account($1, $2)', [accountId, rows[0]?.move]);
  expect(await close()).toBe('already');
  await fixture.owner.query('select cancel_move($1)', [accountId]);
  expect(await close()).toBe('settled_late');
});

test('nothing else changes a failed session, and a late settlement must be posted', async () => {
  const completed = `status = 'completed', samples = 16000, audio_ms = 1000, billable_ms = 1000`;
  const swept = await sweptSession({ creditMs: 60_000 });
  const change = (sql: string): Promise<unknown> =>
    fixture.owner.query(`update sessions set ${sql} where id = $1`, [swept.session.id]);
  const never = 'never changes';
  await expect(change(`${completed}, completed_at = swept_at - interval '1 s'`)).rejects.toThrow(
    never,
  );
  await expect(change(`${completed}, completed_at = swept_at + interval '6 min'`)).rejects.toThrow(
    never,
  );
  await expect(change(`${completed}, node_epoch = 7`)).rejects.toThrow(never);
  await expect(change(`swept_at = clock_timestamp()`)).rejects.toThrow(never);
  await expect(change(completed)).rejects.toThrow('was not posted');
  const notSwept = await fixture.reserve(await fixture.account(60_000));
  await fixture.claim(notSwept);
  await fixture.close(notSwept, { status: 'failed' });
  await expect(
    fixture.owner.query(`update sessions set ${completed} where id = $1`, [notSwept.id]),
  ).rejects.toThrow(never);
});

async function adjust(accountId: string, ms: number): Promise<void> {
  await fixture.owner.query(`select adjust_credit($1, $2, 'a test', 'test', gen_random_uuid())`, [
    accountId,
    ms,
  ]);
}
