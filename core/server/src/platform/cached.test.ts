import { expect, test } from 'vitest';
import { cached } from './cached.ts';

test('runs once for everybody within its time, and again after a failure', async () => {
  let nowMs = 0;
  let runs = 0;
  const clock = { monotonicMs: () => nowMs };
  const count = cached(
    async () => {
      runs += 1;
      if (runs === 2) throw new Error('no database');
      return runs;
    },
    1_000,
    clock,
  );
  expect(await Promise.all([count(), count()])).toEqual([1, 1]);
  nowMs = 1_000;
  await expect(count()).rejects.toThrow('no database');
  expect(await count()).toBe(3);
  expect(await count()).toBe(3);
});
