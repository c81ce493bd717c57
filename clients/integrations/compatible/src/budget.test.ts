import { expect, test } from 'vitest';
import { Budget } from './budget.ts';

test('limits what each account and all together hold', () => {
  const budget = new Budget({ total: 10, perAccount: 6 });
  expect(budget.take('a', 6)).toBe(true);
  expect(budget.take('a', 1)).toBe(false);
  expect(budget.take('b', 5)).toBe(false);
  expect(budget.take('b', 4)).toBe(true);
  expect(budget.sum).toBe(10);
});

test('a refused amount takes nothing, and a returned one is free again', () => {
  const budget = new Budget({ total: 10, perAccount: 6 });
  expect(budget.take('a', 7)).toBe(false);
  expect(budget.sum).toBe(0);
  expect(budget.take('a', 6)).toBe(true);
  budget.give('a', 6);
  expect([budget.heldBy('a'), budget.sum]).toEqual([0, 0]);
  expect(budget.take('b', 6)).toBe(true);
});
