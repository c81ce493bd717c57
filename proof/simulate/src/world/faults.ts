import type { Random } from '../virtual/random.ts';

/** Something that goes wrong at a planned time. `pick` chooses among whatever exists at that time. */
export type Fault = { readonly atMs: number } & (
  | { readonly name: 'slow-network'; readonly forMs: number; readonly extraMs: number }
  /** Packets of one connection vanish, and neither end is told. */
  | { readonly name: 'half-open'; readonly pick: number }
  | { readonly name: 'reset-connection'; readonly pick: number }
  /** One connection delivers nothing for a while, then everything. */
  | { readonly name: 'stalled-connection'; readonly pick: number; readonly forMs: number }
  | { readonly name: 'lost-request'; readonly forMs: number; readonly share: number }
  | { readonly name: 'lost-answer'; readonly forMs: number; readonly share: number }
  | { readonly name: 'silent-api'; readonly forMs: number; readonly share: number }
  | {
      readonly name: 'engine-death' | 'engine-stall';
      readonly pick: number;
      readonly backMs: number;
    }
  | {
      readonly name: 'node-death' | 'machine-death';
      readonly pick: number;
      readonly backMs: number;
    }
  | { readonly name: 'api-death'; readonly pick: number; readonly backMs: number }
  /** The event loop of a process doesn't turn. Its other threads do. */
  | { readonly name: 'node-hang'; readonly pick: number; readonly forMs: number }
  | { readonly name: 'lease-thread-death'; readonly pick: number }
  | { readonly name: 'clock-jump'; readonly pick: number; readonly byMs: number }
  | { readonly name: 'database-clock-jump'; readonly byMs: number }
  | { readonly name: 'database-away' | 'database-unreachable'; readonly forMs: number }
  | { readonly name: 'database-slow'; readonly forMs: number; readonly statementMs: number }
  /** Answers to committed statements are lost, and statements are lost before they run. */
  | { readonly name: 'database-answers-lost'; readonly forMs: number; readonly share: number }
  /** A standby takes over, without losing a commit. */
  | { readonly name: 'database-failover'; readonly forMs: number; readonly share: number }
  /** A standby that lacks the last commits takes over. Then the complete one returns, or an operator accepts the loss. */
  | {
      readonly name: 'database-rollback';
      readonly lostMs: number;
      readonly forMs: number;
      readonly how: 'returns' | 'accepted';
      readonly afterMs: number;
    }
  | {
      readonly name: 'drain';
      readonly pick: number;
      readonly drainMs: number;
      readonly backMs: number;
    }
  | { readonly name: 'client-vanishes'; readonly pick: number; readonly isSilent: boolean }
  | { readonly name: 'slow-reader'; readonly pick: number; readonly forMs: number }
  | { readonly name: 'account-suspended'; readonly pick: number; readonly forMs: number }
  | { readonly name: 'session-ended'; readonly pick: number }
);

export type FaultName = Fault['name'];

/** Faults happen between these times. */
const FIRST_MS = 300;
const LAST_MS = 10_000;

type Draw = (random: Random) => DistributiveOmit<Fault, 'atMs'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

const pick = (random: Random): number => random.integer(0, 1_000);

/** How each fault is drawn. */
const DRAWS: Readonly<Record<FaultName, Draw>> = {
  'slow-network': (random) => ({
    name: 'slow-network',
    forMs: random.between(100, 8_000),
    extraMs: random.between(20, 1_500),
  }),
  'half-open': (random) => ({ name: 'half-open', pick: pick(random) }),
  'reset-connection': (random) => ({ name: 'reset-connection', pick: pick(random) }),
  'stalled-connection': (random) => ({
    name: 'stalled-connection',
    pick: pick(random),
    forMs: random.between(100, 15_000),
  }),
  'lost-request': (random) => ({ name: 'lost-request', ...spell(random) }),
  'lost-answer': (random) => ({ name: 'lost-answer', ...spell(random) }),
  'silent-api': (random) => ({ name: 'silent-api', ...spell(random) }),
  'engine-death': (random) => ({ name: 'engine-death', ...loss(random) }),
  'engine-stall': (random) => ({ name: 'engine-stall', ...loss(random) }),
  'node-death': (random) => ({ name: 'node-death', ...loss(random) }),
  'machine-death': (random) => ({ name: 'machine-death', ...loss(random) }),
  'api-death': (random) => ({ name: 'api-death', ...loss(random) }),
  'node-hang': (random) => ({
    name: 'node-hang',
    pick: pick(random),
    forMs: random.chance(0.3) ? random.between(25_000, 45_000) : random.between(100, 12_000),
  }),
  'lease-thread-death': (random) => ({ name: 'lease-thread-death', pick: pick(random) }),
  'clock-jump': (random) => ({ name: 'clock-jump', pick: pick(random), byMs: jump(random) }),
  'database-clock-jump': (random) => ({ name: 'database-clock-jump', byMs: jump(random) }),
  'database-away': (random) => ({ name: 'database-away', forMs: random.between(50, 15_000) }),
  'database-unreachable': (random) => ({
    name: 'database-unreachable',
    forMs: random.between(50, 15_000),
  }),
  'database-slow': (random) => ({
    name: 'database-slow',
    forMs: random.between(100, 8_000),
    statementMs: random.between(50, 2_500),
  }),
  'database-answers-lost': (random) => ({ name: 'database-answers-lost', ...spell(random) }),
  'database-failover': (random) => ({ name: 'database-failover', ...spell(random) }),
  'database-rollback': (random) => ({
    name: 'database-rollback',
    lostMs: random.between(10, 3_000),
    forMs: random.between(50, 3_000),
    how: random.pick(['returns', 'accepted'] as const),
    afterMs: random.between(500, 12_000),
  }),
  drain: (random) => ({
    name: 'drain',
    pick: pick(random),
    drainMs: random.pick([0, 1_000, 5_000, 20_000]),
    backMs: random.between(200, 5_000),
  }),
  'client-vanishes': (random) => ({
    name: 'client-vanishes',
    pick: pick(random),
    isSilent: random.chance(0.5),
  }),
  'slow-reader': (random) => ({
    name: 'slow-reader',
    pick: pick(random),
    forMs: random.between(500, 20_000),
  }),
  'account-suspended': (random) => ({
    name: 'account-suspended',
    pick: pick(random),
    forMs: random.between(500, 8_000),
  }),
  'session-ended': (random) => ({ name: 'session-ended', pick: pick(random) }),
};

export function isFaultName(text: string): text is FaultName {
  return Object.hasOwn(DRAWS, text);
}

export const FAULT_NAMES: readonly FaultName[] = Object.keys(DRAWS).filter(isFaultName);

/** Draws faults, only of some kinds if they are named. Usually few: most bugs need two or three. */
export function drawFaults(random: Random, only: readonly FaultName[]): Fault[] {
  const count = only.length === 0 ? random.pick([0, 1, 1, 2, 2, 3, 4, 6]) : random.integer(1, 3);
  const faults = Array.from({ length: count }, (): Fault => {
    const name = random.pick(only.length === 0 ? FAULT_NAMES : only);
    return { atMs: random.between(FIRST_MS, LAST_MS), ...DRAWS[name](random) };
  });
  return faults.toSorted((a, b) => a.atMs - b.atMs);
}

function spell(random: Random): { forMs: number; share: number } {
  return { forMs: random.between(50, 6_000), share: random.between(0.05, 1) };
}

function loss(random: Random): { pick: number; backMs: number } {
  return { pick: pick(random), backMs: random.between(50, 12_000) };
}

function jump(random: Random): number {
  const byMs = random.chance(0.3) ? random.between(10_000, 120_000) : random.between(50, 8_000);
  return random.chance(0.5) ? byMs : -byMs;
}
