import { expect, test } from 'vitest';
import { mayOpen, streamsToReclaim, streamToYield, type SlotHolder } from './fair-share.ts';

const SPEAKING = 1;
const IDLE = 0;

function streams(accountId: string, count: number, audioShare = SPEAKING): SlotHolder[] {
  return Array.from({ length: count }, () => ({ accountId, audioShare }));
}

test('reclaims no stream while a tenth of the slots is free', () => {
  const slots = { active: 90, capacity: 100 };
  expect(streamsToReclaim(streams('a', 90, IDLE), { slots })).toEqual([]);
});

test('reclaims idle streams of the account with the most slots, those with the least audio first', () => {
  const least = { accountId: 'a', audioShare: 0 };
  const holders = [...streams('b', 1, IDLE), ...streams('a', 98, 0.05), least];
  const reclaimed = streamsToReclaim(holders, { slots: { active: 100, capacity: 100 } });
  expect(reclaimed).toHaveLength(10);
  expect(reclaimed[0]).toBe(least);
  expect(new Set(reclaimed.map(({ accountId }) => accountId))).toEqual(new Set(['a']));
});

test.each([0, 50, 99])(
  'ends no stream while lost recognisers leave %i slots for 100 streams',
  (capacity) => {
    const holders = [...streams('a', 99, IDLE), ...streams('b', 1, IDLE)];
    const slots = { active: 100, capacity };
    expect(streamsToReclaim(holders, { slots })).toEqual([]);
    expect(streamToYield('c', { holders, slots })).toBeUndefined();
  },
);

test('never reclaims streams that send audio', () => {
  const slots = { active: 100, capacity: 100 };
  expect(streamsToReclaim(streams('a', 100, 0.1), { slots })).toEqual([]);
});

test('never reclaims the only stream of an account', () => {
  const holders = Array.from({ length: 10 }, (_, at) => streams(`${at}`, 1, IDLE)).flat();
  expect(streamsToReclaim(holders, { slots: { active: 10, capacity: 10 } })).toEqual([]);
});

test('when a full node refuses an account, the stream with the least audio above another share gives way', () => {
  const least = { accountId: 'a', audioShare: 0.2 };
  const holders = [...streams('a', 8, 0.4), least, ...streams('b', 1, IDLE)];
  const slots = { active: 10, capacity: 10 };
  expect(streamToYield('c', { holders, slots })).toBe(least);
});

test.each([
  ['an account that has its share', 'b', [...streams('a', 5, IDLE), ...streams('b', 5, IDLE)]],
  ['the account that fills the node', 'a', streams('a', 10, IDLE)],
  ['a newcomer, while all others speak', 'c', streams('a', 10, 0.5)],
  [
    'a newcomer, while nobody is above a share',
    'c',
    [...streams('a', 3, 0), ...streams('b', 3, 0)],
  ],
])('no stream gives way to %s', (_, accountId, holders) => {
  const slots = { active: 10, capacity: 10 };
  expect(streamToYield(accountId, { holders, slots })).toBeUndefined();
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
