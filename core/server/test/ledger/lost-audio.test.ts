import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLostAudio } from '../../src/sessions/lost-sessions.ts';
import { openCheckedLedgerFixture } from '@svc-asr/testing/ledger/ledger-fixture.ts';

const fixture = await openCheckedLedgerFixture();

/** What happens to one session of a client whose connection is lost again and again. */
interface Lost {
  /** How much of the audio without a final is sent again before anything new. The rest was not reached. */
  readonly added: number;
  /** How much of the end has no final when the connection is lost. */
  readonly tail: number;
  readonly status: 'completed' | 'failed';
}

const anyLost: fc.Arbitrary<Lost> = fc.record({
  added: fc.integer({ min: 1, max: 40 }).map((tenths) => tenths * 1_600),
  tail: fc.integer({ min: 0, max: 40 }).map((tenths) => tenths * 1_600),
  status: fc.constantFrom('completed', 'completed', 'failed'),
});

test('C02 however often a client sends its audio again, every sample is charged once or was free', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyLost, { minLength: 2, maxLength: 6 }), async (losses) => {
      const accountId = await fixture.account(1_000_000);
      let charged: {
        readonly sessionId: string;
        readonly from: number;
        readonly to: number;
      } | null = null;
      let from = 0;
      let reached = 0;
      let secondsMs = 0;
      for (const { added, tail, status } of losses) {
        const session = await fixture.reserve(accountId, { requestedMs: 300_000 });
        await fixture.claim(session);
        const to = reached + added;
        const samples = to - from;
        const again = charged === null ? 0 : Math.max(0, charged.to - from);
        const replayed =
          charged && again > 0 ? { sessionId: charged.sessionId, samples: again } : null;
        const lost = { lengths: [samples], digests: ['a'] };
        await fixture.close(session, { status, samples, replayed, lost });
        if (status === 'completed') {
          secondsMs += Math.ceil((samples - again) / 16_000) * 1000;
          charged = { sessionId: session.id, from, to };
        }
        reached = to;
        from = Math.max(from, to - tail);
      }
      const balance = await fixture.ledger.balance(accountId);
      expect(balance).toMatchObject({ consumedMs: secondsMs, reservedMs: 0 });
      const { rows } = await fixture.owner.query<{ charged: string }>(
        `select sum(samples - coalesce(replayed_samples, 0)) as charged from sessions
          where account_id = $1 and status = 'completed'`,
        [accountId],
      );
      expect(Number(rows[0]?.charged ?? 0)).toBeLessThanOrEqual(reached);
    }),
    { numRuns: 25 },
  );
});

test('lost audio is found until a session continues it, by its own account only', async () => {
  const accountId = await fixture.account(60_000);
  const lost = { lengths: [16_000, 8_000], digests: ['a', 'b'] };
  const first = await fixture.reserve(accountId, { requestedMs: 10_000 });
  const find = (owner = accountId) => findLostAudio(fixture.owner, owner, [first.id]);
  await fixture.claim(first);
  expect(await find()).toMatchObject([{ isOver: false, lengths: [] }]);
  await fixture.close(first, { samples: 24_000, lost });
  expect(await find()).toEqual([{ sessionId: first.id, isOver: true, ...lost }]);
  expect(await find(await fixture.account(1_000))).toEqual([]);
  const second = await fixture.reserve(accountId, { requestedMs: 10_000 });
  await fixture.claim(second);
  const replayed = { sessionId: first.id, samples: 8_000 };
  await fixture.close(second, { samples: 8_000, replayed });
  expect(await find()).toMatchObject([{ isOver: true, lengths: [] }]);
  await fixture.owner.query(`update lost_audio set lost_at = lost_at - interval '6 minutes'`);
  await fixture.ledger.sweep();
  const { rows } = await fixture.owner.query('select from lost_audio where account_id = $1', [
    accountId,
  ]);
  expect(rows).toHaveLength(0);
});

test('a process of the version before settles with seven arguments', async () => {
  const accountId = await fixture.account(10_000);
  const session = await fixture.reserve(accountId, { requestedMs: 10_000 });
  await fixture.claim(session);
  const { rows } = await fixture.database
    .as('svc_all')
    .query<{ outcome: string }>('select close_session($1, $2, $3, $4, $5, $6, $7) as outcome', [
      accountId,
      session.id,
      'completed',
      16_000,
      'node-1',
      fixture.nodeEpoch,
      null,
    ]);
  expect(rows).toEqual([{ outcome: 'closed' }]);
  expect(await fixture.ledger.balance(accountId)).toMatchObject({ consumedMs: 1_000 });
});

test('the same audio is handed on ten times, and then charged again', async () => {
  const accountId = await fixture.account(60_000);
  const lost = { lengths: [16_000], digests: ['a'] };
  let replayed: { readonly sessionId: string; readonly samples: number } | null = null;
  const found: number[] = [];
  for (let hop = 0; hop <= 10; hop += 1) {
    const session = await fixture.reserve(accountId, { requestedMs: 10_000 });
    await fixture.claim(session);
    await fixture.close(session, { samples: 16_000, replayed, lost });
    const [audio] = await findLostAudio(fixture.owner, accountId, [session.id]);
    found.push(audio?.lengths.length ?? 0);
    replayed = { sessionId: session.id, samples: 16_000 };
  }
  expect(found).toEqual([...Array.from({ length: 10 }, () => 1), 0]);
  expect(await fixture.ledger.balance(accountId)).toMatchObject({ consumedMs: 1_000 });
});
