import { expect, test } from 'vitest';
import { mayOpen, streamsToReclaim, type SlotHolder } from './fair-share.ts';

const RECLAIM_IDLE_MS = 10_000;

function streams(accountId: string, count: number, idleMs = 0): SlotHolder[] {
  return Array.from({ length: count }, () => ({ accountId, idleMs }));
}

test('reclaims no stream while a tenth of the slots is free', () => {
  const holders = streams('a', 90, 60_000);
  expect(
    streamsToReclaim(holders, { slots: { active: 90, capacity: 100 }, idleMs: RECLAIM_IDLE_MS }),
  ).toEqual([]);
});

test('reclaims idle streams of the account with the most slots, longest idle first', () => {
  const longest = { accountId: 'a', idleMs: 50_000 };
  const holders = [...streams('b', 1, 60_000), ...streams('a', 98, RECLAIM_IDLE_MS), longest];
  const reclaimed = streamsToReclaim(holders, {
    slots: { active: 100, capacity: 100 },
    idleMs: RECLAIM_IDLE_MS,
  });
  expect(reclaimed).toHaveLength(10);
  expect(reclaimed[0]).toBe(longest);
  expect(new Set(reclaimed.map(({ accountId }) => accountId))).toEqual(new Set(['a']));
});

test('never reclaims streams that send audio', () => {
  const holders = streams('a', 100, RECLAIM_IDLE_MS - 1);
  expect(
    streamsToReclaim(holders, { slots: { active: 100, capacity: 100 }, idleMs: RECLAIM_IDLE_MS }),
  ).toEqual([]);
});

test('never reclaims the only stream of an account', () => {
  const holders = Array.from({ length: 10 }, (_, at) => ({ accountId: `${at}`, idleMs: 60_000 }));
  expect(
    streamsToReclaim(holders, { slots: { active: 10, capacity: 10 }, idleMs: RECLAIM_IDLE_MS }),
  ).toEqual([]);
});

test.each([
  ['a newcomer', 'c', true],
  ['the account that holds most', 'a', false],
  ['an account below its share', 'b', true],
])('on a nearly full node, %s (%s) may open a stream: %s', (_, accountId, allowed) => {
  const slots = { active: 9, capacity: 10 };
  const holders = [...streams('a', 7), ...streams('b', 2)];
  expect(mayOpen(accountId, { holders, slots })).toBe(allowed);
});

test('an account that is alone on a node may fill it', () => {
  const slots = { active: 9, capacity: 10 };
  expect(mayOpen('a', { holders: streams('a', 9), slots })).toBe(true);
});
