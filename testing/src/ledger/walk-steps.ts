import * as fc from 'fast-check';
import type { Step } from './ledger-model.ts';

/** The session that a step picks, counted back from the newest. Older ones check that closed sessions stay unchanged. */
const pick = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4);

/** Weighted steps. Rare ones are frequent enough to occur together. */
export const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      seconds: fc.constantFrom(1, 2, 10, 60, 60, 300),
      key: fc.constantFrom(null, null, 'first', 'second'),
      room: fc.integer({ min: 0, max: 9 }).map((roll) => roll > 0),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      pick,
      sameAttempt: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('close' as const),
      pick,
      samples: fc.oneof(
        fc.constantFrom(0, 1, 15, 16, 15_999, 16_000, 16_001, 5_000_000),
        fc.nat({ max: 320_000 }),
      ),
      failed: fc.integer({ min: 0, max: 4 }).map((roll) => roll === 0),
      sameAttempt: fc.boolean(),
      sameProcess: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('age' as const), pick }) },
  { weight: 2, arbitrary: fc.constant({ do: 'restart' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'sweep' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('status' as const),
      active: fc.integer({ min: 0, max: 4 }).map((roll) => roll > 0),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('limit' as const),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      ms: fc.constantFrom(1, 999, 1_000, 60_500, 3_600_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('adjust' as const),
      ms: fc.constantFrom(-3_600_000, -60_000, -1, 250),
    }),
  },
);
