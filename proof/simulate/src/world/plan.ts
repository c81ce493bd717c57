import { drawFaults, type Fault, type FaultName } from './faults.ts';
import { deriveSeed, Random } from '../virtual/random.ts';
import type { ApiPlan } from '../servers/api-server.ts';
import type { ClientPlan, ClientStep } from '../clients/client.ts';
import { drawAbuse, drawOddTurns, drawWaitingFrames } from '../clients/abuse.ts';
import type { NodePlan } from '../servers/streaming-server.ts';

interface AccountPlan {
  readonly id: string;
  readonly creditMs: number;
  readonly concurrencyLimit: number;
}

/** The SDK leaves a session that has been idle for 50 s. */
const LONG_PAUSE_MS = 55_000;

/** How many runs have a fault that meets a client's start, and how long before or after it. */
const AIMED_SHARE = 0.25;
const AIMED_MS = [-100, 300] as const;

/** How many SDK clients with turn detection have speech confirmed, and how many name keyterms. */
const CONFIRMED_SHARE = 0.4;
const KEYTERMS_SHARE = 0.3;
/** How many SDK clients end without waiting for their last finals. */
const CLOSES_EARLY_SHARE = 0.1;
/** How many SDK clients pass on the stream's idempotency key. The others leave it to `SvcClient`, as the examples do. */
const PASSES_KEY_SHARE = 0.5;
const KEYTERMS = ['mbeca', 'thukuru', 'njoki', 'wega'] as const;

/** How many runs have a client that does something rare on purpose. */
const FOCUS_SHARE = 0.15;
const FOCUSES = [
  'waiting-frames',
  'odd-turns',
  'long-speech',
  'resets',
  'long-chunks',
  'open-at-once',
] as const;
/** Longer than a connection without an answer is kept. */
const LONG_SPEECH_MS = 40_000;

/** Everything that a seed decides in advance. A failing plan can be cut down to a smaller one. */
export interface Plan {
  readonly seed: number;
  readonly nodes: readonly NodePlan[];
  readonly apis: readonly ApiPlan[];
  readonly accounts: readonly AccountPlan[];
  readonly clients: readonly ClientPlan[];
  readonly faults: readonly Fault[];
  readonly delayMs: readonly [number, number];
}

/** With `only`, all faults are of these kinds. */
export function planFor(seed: number, only: readonly FaultName[] = []): Plan {
  const random = new Random(deriveSeed(seed, 'plan'));
  const accounts = drawAccounts(random);
  const nodes = Array.from({ length: random.integer(1, 3) }, (_, at) => drawNode(random, at));
  const apis = Array.from({ length: random.integer(1, 2) }, (_, at) => ({
    id: `api-${at + 1}`,
    rate: drawRate(random),
  }));
  const clients = Array.from({ length: random.integer(1, 3) }, (_, at) =>
    drawClient(random, at, random.pick(accounts)),
  );
  const slowestMs = random.pick([2, 10, 40, 40, 120]);
  const faults = drawFaults(new Random(deriveSeed(seed, 'faults')), only);
  return {
    seed,
    nodes,
    apis,
    accounts,
    clients: behaving(
      configured(
        focused(clients, new Random(deriveSeed(seed, 'focus'))),
        new Random(deriveSeed(seed, 'settings')),
      ),
      new Random(deriveSeed(seed, 'behaviour')),
    ),
    faults: aimed(faults, clients, new Random(deriveSeed(seed, 'aim'))),
    delayMs: [0.2, slowestMs],
  };
}

/** Moves a fault, in some runs, to the moment when a client asks for a session and opens its stream. */
function aimed(faults: readonly Fault[], clients: readonly ClientPlan[], random: Random): Fault[] {
  if (faults.length === 0 || !random.chance(AIMED_SHARE)) return [...faults];
  const chosen = random.pick(faults);
  const atMs = Math.max(0, random.pick(clients).startMs + random.between(...AIMED_MS));
  const moved = faults.map((fault) => (fault === chosen ? { ...fault, atMs } : fault));
  return moved.toSorted((a, b) => a.atMs - b.atMs);
}

/** Replaces the first client, in some runs, by one that reaches a rare state. The others stay as they were drawn. */
function focused(clients: readonly ClientPlan[], random: Random): ClientPlan[] {
  const [first, ...others] = clients;
  if (first === undefined || !random.chance(FOCUS_SHARE)) return [...clients];
  const raw = { ...first, kind: 'raw', endpointing: false, maxAudioSeconds: 60 } as const;
  const what = random.pick(FOCUSES);
  switch (what) {
    case 'waiting-frames':
      return [{ ...raw, steps: drawWaitingFrames(random) }, ...others];
    case 'odd-turns':
      return [{ ...raw, steps: drawOddTurns(random) }, ...others];
    case 'long-speech': {
      const steps = [{ do: 'say', ms: LONG_SPEECH_MS }] as const;
      return [{ ...first, kind: 'sdk', maxAudioSeconds: 60, steps }, ...others];
    }
    case 'long-chunks': {
      const steps = Array.from({ length: random.integer(2, 5) }, () => drawTurn(random)).flat();
      const chunkMs = random.pick([700, 1_000, 1_700]);
      const settings = { maxAudioSeconds: 60, endpointing: true, chunkMs };
      return [{ ...first, kind: 'sdk', ...settings, steps }, ...others];
    }
    case 'open-at-once': {
      const steps = [{ do: 'open-at-once' }, { do: 'pause', ms: 20_000 }] as const;
      return [{ ...raw, steps }, ...others];
    }
    case 'resets': {
      const steps = Array.from({ length: random.integer(2, 5) }, () => drawReset(random)).flat();
      return [{ ...first, kind: 'sdk', maxAudioSeconds: 60, steps }, ...others];
    }
  }
}

/** Gives some clients keyterms, from the start or in the middle, and the second detector of speech. */
function configured(clients: readonly ClientPlan[], random: Random): ClientPlan[] {
  return clients.map((client) => {
    if (client.kind !== 'sdk') return client;
    const isConfirmed = client.endpointing && random.chance(CONFIRMED_SHARE);
    if (!random.chance(KEYTERMS_SHARE)) return { ...client, isConfirmed };
    const keyterms = drawKeyterms(random);
    const steps = client.steps.flatMap((step): ClientStep[] =>
      random.chance(0.3) ? [{ do: 'keyterms', keyterms: drawKeyterms(random) }, step] : [step],
    );
    return { ...client, isConfirmed, keyterms, steps };
  });
}

/** Lets some clients leave the idempotency key to `SvcClient`, and some end early. */
function behaving(clients: readonly ClientPlan[], random: Random): ClientPlan[] {
  return clients.map((client) => {
    if (client.kind === 'raw') return client;
    const passesKey = random.chance(PASSES_KEY_SHARE);
    return { ...client, passesKey, closesEarly: random.chance(CLOSES_EARLY_SHARE) };
  });
}

function drawKeyterms(random: Random): string[] {
  return KEYTERMS.filter(() => random.chance(0.5));
}

function drawAccounts(random: Random): AccountPlan[] {
  return Array.from({ length: random.integer(1, 2) }, () => ({
    id: random.uuid(),
    creditMs: random.chance(0.1) ? random.integer(1, 20) * 1000 : 3_600_000,
    concurrencyLimit: random.pick([1, 2, 4, 4]),
  }));
}

function drawNode(random: Random, at: number): NodePlan {
  return {
    id: `node-${at + 1}`,
    rate: drawRate(random),
    recognisers: random.integer(1, 3),
    slots: random.integer(1, 3),
    decodeMs: [1, random.pick([5, 50, 200, 600])],
  };
}

/** Clocks of real machines differ by less than one part in a thousand. */
function drawRate(random: Random): number {
  return random.chance(0.5) ? 1 : random.between(0.999, 1.001);
}

function drawClient(random: Random, speaker: number, account: AccountPlan): ClientPlan {
  const kind = random.chance(0.25) ? 'raw' : 'sdk';
  const endpointing = random.chance(0.25);
  return {
    kind,
    name: `client-${speaker + 1}`,
    speaker,
    accountId: account.id,
    startMs: random.between(100, 2_500),
    maxAudioSeconds: random.pick([3, 10, 60]),
    endpointing,
    steps: kind === 'raw' ? drawAbuse(random) : drawSteps(random, endpointing),
  };
}

function drawSteps(random: Random, endpointing: boolean): ClientStep[] {
  const resets = random.chance(0.2);
  const count = random.integer(2, 6);
  return Array.from({ length: count }, () => drawStep(random, { endpointing, resets })).flat();
}

function drawStep(
  random: Random,
  { endpointing, resets }: { readonly endpointing: boolean; readonly resets: boolean },
): ClientStep[] {
  const dice = random.next();
  if (dice < 0.55) return [{ do: 'say', ms: random.integer(1, 20) * 100 }];
  if (dice < 0.7) return [{ do: 'flush' }];
  if (dice < 0.72 && resets) return [{ do: 'reset' }];
  if (dice < 0.75 && resets) {
    const ms = random.integer(1, 20) * 100;
    return [{ do: 'flush' }, { do: 'say-fast', ms }, { do: 'reset' }];
  }
  if (dice < 0.795) return [{ do: 'pause', ms: random.pick([50, 500, 4_000]) }];
  if (dice < 0.8) return [{ do: 'pause', ms: LONG_PAUSE_MS }];
  if (dice < 0.85) return [{ do: 'say-fast', ms: random.integer(1, 40) * 100 }];
  if (dice < 0.87) return [{ do: 'skip', ms: random.integer(1, 2_000) }];
  return endpointing
    ? [{ do: 'silence', ms: random.integer(1, 20) * 100 }]
    : [{ do: 'say', ms: random.integer(1, 900) }];
}

/** Speech and a pause that ends its utterance. */
function drawTurn(random: Random): ClientStep[] {
  return [
    { do: 'say', ms: random.integer(2, 15) * 100 },
    { do: 'silence', ms: random.integer(7, 12) * 100 },
  ];
}

/** Drops what it says while the final before it is still on its way. */
function drawReset(random: Random): ClientStep[] {
  return [
    { do: 'say', ms: random.integer(1, 15) * 100 },
    { do: 'flush' },
    { do: 'say-fast', ms: random.integer(1, 20) * 100 },
    { do: 'reset' },
  ];
}
