import * as fc from 'fast-check';
import { SKIP_MS } from './skipping.ts';

/** What a client sends at once. */
export type Input =
  | { readonly do: 'speech' | 'silence'; readonly ms: number; readonly frameBytes: number }
  | { readonly do: 'tiny'; readonly frames: number; readonly bytes: number }
  | { readonly do: 'endpointing'; readonly silenceMs: number | null }
  | { readonly do: 'flush' | 'reset' | 'config' | 'unknown' };

export type Ending = 'close' | 'terminate' | 'reset' | 'silence';

export interface Plan {
  /** A pause follows each round. */
  readonly rounds: readonly (readonly Input[])[];
  readonly ending: Ending;
}

/** Plans that run together, because they share a clock. */
export interface Batch {
  readonly pausesMs: readonly number[];
  readonly plans: readonly Plan[];
}

/** A stream without audio ends after 60 s, so a client that wants to stay pauses for less. */
const PAUSE_SKIPS_MAX = 3;
const ROUNDS_MAX = 5;

/** Longer than the audio that is kept for a replay. */
const LONG_MS = 62_000;
const TRICKLE: Input = { do: 'tiny', frames: 1, bytes: 2 };

/** Finals, then more silence than a replay holds, then two bytes every 45 s: an engine node used to give up. */
const TRICKLING: Plan = {
  rounds: [
    [{ do: 'silence', ms: LONG_MS, frameBytes: 32_000 }],
    [TRICKLE],
    [TRICKLE],
    [TRICKLE],
    [TRICKLE],
  ],
  ending: 'silence',
};

const frameBytes = fc.constantFrom(320, 3_200, 32_000, 65_536);
const ms = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 3_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 3_000, max: 20_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(59_900, LONG_MS) },
);
const input: fc.Arbitrary<Input> = fc.oneof(
  fc.record({ do: fc.constantFrom('speech' as const, 'silence' as const), ms, frameBytes }),
  fc.record({
    do: fc.constant('tiny' as const),
    frames: fc.integer({ min: 1, max: 15 }),
    bytes: fc.constantFrom(0, 1, 2, 3),
  }),
  fc.record({
    do: fc.constant('endpointing' as const),
    silenceMs: fc.constantFrom(null, 200, 500, 2_000),
  }),
  fc.record({ do: fc.constantFrom('flush' as const, 'flush' as const, 'reset' as const) }),
  fc.record({ do: fc.constantFrom('config' as const, 'unknown' as const) }),
);
const plan: fc.Arbitrary<Plan> = fc.record({
  rounds: fc.array(fc.array(input, { maxLength: 5 }), { minLength: 1, maxLength: ROUNDS_MAX }),
  ending: fc.constantFrom('close', 'terminate', 'reset', 'silence'),
});
const pausesMs = fc.array(
  fc.integer({ min: 0, max: PAUSE_SKIPS_MAX }).map((skips) => skips * SKIP_MS),
  { minLength: ROUNDS_MAX, maxLength: ROUNDS_MAX },
);

/** The first batch has the known attack, and pauses as long as a client may make them. */
export function batches(input: { count: number; size: number; seed: number }): Batch[] {
  const { count, size, seed } = input;
  const random = fc.sample(
    fc.record({ pausesMs, plans: fc.array(plan, { minLength: size, maxLength: size }) }),
    { numRuns: count, seed },
  );
  return random.map((batch, at) => {
    if (at > 0) return batch;
    const longest = batch.pausesMs.map(() => PAUSE_SKIPS_MAX * SKIP_MS);
    return { pausesMs: longest, plans: [TRICKLING, ...batch.plans.slice(1)] };
  });
}
