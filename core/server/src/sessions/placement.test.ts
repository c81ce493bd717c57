import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LiveNode } from '../nodes/nodes.ts';
import { chooseNode, LostNodes, refreshRoster } from './placement.ts';

const MODEL = 'svc-asr-kikuyu-v1';
const DEAD = { isLost: (id: string): boolean => id === 'dead' };

function node(id: string, fields: Partial<LiveNode> = {}): { node: LiveNode; placed: number } {
  const publicUrl = `wss://${id}.example.com`;
  const load = { capacity: 10, active: 0, draining: false, renewedAtMs: 1 };
  return { node: { id, publicUrl, epoch: 1, models: [MODEL], ...load, ...fields }, placed: 0 };
}

test('nodes that are full, draining or without the model are never chosen', () => {
  const roster = [
    node('full', { active: 10 }),
    node('draining', { draining: true }),
    node('other', { models: ['svc-asr-dholuo-v1'] }),
  ];
  expect(chooseNode(roster, MODEL)).toBeNull();
  expect(chooseNode([...roster, node('free', { active: 9 })], MODEL)?.id).toBe('free');
});

test('picks two nodes at random and takes the one with the smaller share of its capacity in use', () => {
  const picks = [0, 0.99];
  const roster = [node('busy', { active: 5 }), node('large', { active: 6, capacity: 100 })];
  expect(chooseNode(roster, MODEL, { random: () => picks.shift() ?? 0 })?.id).toBe('large');
});

test('a node with room is chosen before one that refuses accounts with several streams', () => {
  for (let at = 0; at < 20; at += 1) {
    const roster = [node('a', { active: 9 }), node('b', { active: 9 }), node('roomy')];
    expect(chooseNode(roster, MODEL)?.id).toBe('roomy');
  }
});

test('a burst between two refreshes spreads over the nodes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 8 }), (count) => {
      const roster = Array.from({ length: count }, (_, at) => node(`n${at}`, { capacity: 1000 }));
      for (let at = 0; at < count * 100; at += 1) chooseNode(roster, MODEL);
      const placed = roster.map((entry) => entry.placed);
      expect(Math.max(...placed) - Math.min(...placed)).toBeLessThan(40);
    }),
    { numRuns: 20 },
  );
});

test('a node that two accounts could not reach is avoided until it renews its lease', () => {
  const lost = new LostNodes();
  const { node: dead } = node('dead');
  lost.refresh([dead, node('other').node]);
  const report = { host: 'dead.example.com', accountId: 'a' };
  lost.report(report);
  lost.report(report);
  expect(lost.has('dead', report)).toBe(true);
  expect(lost.has('dead', null)).toBe(false);
  lost.report({ ...report, accountId: 'b' });
  expect(lost.has('dead', null)).toBe(true);
  lost.refresh([dead]);
  expect(lost.has('dead', null)).toBe(true);
  lost.refresh([{ ...dead, renewedAtMs: 2 }]);
  expect(lost.has('dead', null)).toBe(false);
});

test('a node that has missed a renewal is avoided until it renews its lease', () => {
  const lost = new LostNodes();
  const { node: dead } = node('dead');
  const refresh = (renewedAtMs: number): boolean => {
    lost.refresh([{ ...dead, renewedAtMs }]);
    return lost.has('dead', null);
  };
  expect([1, 1, 1].map(refresh)).toEqual([false, false, false]);
  expect([1, 2].map(refresh)).toEqual([true, false]);
});

test('sessions placed on a node count until it reports its load again', () => {
  const nodes = [node('a').node, node('b').node];
  const roster = refreshRoster([], nodes);
  for (const entry of roster) entry.placed = 3;
  const later = refreshRoster(roster, [{ ...node('a').node, renewedAtMs: 2 }, node('b').node]);
  expect(later.map(({ placed }) => placed)).toEqual([0, 3]);
});

test('chooses a lost node only if there is no other', () => {
  const roster = [node('dead'), node('busy', { active: 9 })];
  for (let at = 0; at < 20; at += 1) {
    expect(chooseNode(roster, MODEL, DEAD)?.id).toBe('busy');
  }
  expect(chooseNode([node('dead')], MODEL, DEAD)?.id).toBe('dead');
});
