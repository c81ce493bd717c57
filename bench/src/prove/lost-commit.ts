import { randomUUID } from 'node:crypto';
import { createAccount } from '@svc-asr/server/accounts/accounts.ts';
import { createPool, isDatabaseAway } from '@svc-asr/server/db.ts';
import { findViolations } from '@svc-asr/server/ledger/audit.ts';
import { createLedger, type Ledger } from '@svc-asr/server/ledger/ledger.ts';
import { registerNode } from '@svc-asr/server/nodes.ts';
import type { Campaign } from '../campaign.ts';
import { startCuttingProxy, type Cut, type CuttingProxy } from '../cutting-proxy.ts';
import { startThrowAwayLedger, type ThrowAwayLedger } from '../throw-away-ledger.ts';

const SIZE = { full: 5_000, short: 150 };
const WORKERS = 4;
const CREDIT_MS = 1_000_000_000;
const NODE = {
  id: 'node-1',
  publicUrl: 'wss://node-1.example/v1/asr/stream',
  models: ['svc-asr-kikuyu-v1'],
  capacity: 100,
} as const;
const CUTS: readonly Cut[] = ['at-answer', 'at-answer', 'after-request', 'before-request'];

interface Tally {
  cuts: number;
  sessions: number;
  /** Said to be done and not found. */
  lost: number;
  /** Done more than once. */
  doubled: number;
}

/**
 * The connection is cut around COMMIT over reserve, claim and close; every caller asks again,
 * nothing happens twice.
 */
export const campaign: Campaign = {
  about: 'connections cut after COMMIT was sent: nothing lost, nothing doubled',
  async run({ short, log }) {
    const wanted = short ? SIZE.short : SIZE.full;
    const ledger = await startThrowAwayLedger();
    const tally: Tally = { cuts: 0, sessions: 0, lost: 0, doubled: 0 };
    try {
      const nodeEpoch = await registerNode(ledger.service, NODE);
      const workers = Array.from({ length: WORKERS }, () =>
        cutSessions({ ledger, nodeEpoch, wanted, tally, log }),
      );
      await Promise.all(workers);
      const found = await findViolations(ledger.owner);
      for (const line of found) log(line);
      const { cuts, sessions, lost, doubled } = tally;
      return {
        passed: cuts >= wanted && lost === 0 && doubled === 0 && found.length === 0,
        figures: { cuts, sessions, lost, doubled, violations: found.length },
      };
    } finally {
      await ledger.stop();
    }
  },
};

async function cutSessions(input: {
  ledger: ThrowAwayLedger;
  nodeEpoch: number;
  wanted: number;
  tally: Tally;
  log: (line: string) => void;
}): Promise<void> {
  const { tally } = input;
  const proxy = await startCuttingProxy(input.ledger.server);
  const pool = createPool({
    url: input.ledger.server.url.replace(/:\d+\//, `:${proxy.port}/`),
    role: 'svc_all',
    maxConnections: 1,
  });
  const accountId = await createAccount(input.ledger.owner, { name: 'Cut' });
  const ledger = createLedger(pool);
  let consumedMs = 0;
  await createLedger(input.ledger.owner).grant({
    accountId,
    ms: CREDIT_MS,
    reason: 'credit for the campaign',
    actor: 'campaign',
    id: randomUUID(),
  });
  try {
    for (let round = 0; tally.cuts < input.wanted; round += 1) {
      const before = proxy.cuts();
      consumedMs += await oneSession({ ...input, ledger, proxy, accountId, round });
      tally.cuts += proxy.cuts() - before;
      tally.sessions += 1;
      if (tally.sessions % 200 === 0) input.log(`${tally.cuts} of ${input.wanted} cuts`);
    }
    const balance = await createLedger(input.ledger.service).balance(accountId);
    // The client's own sum is the judge: every second it streamed was charged, once.
    if (balance === null || balance.consumedMs < consumedMs) tally.lost += 1;
    if (balance !== null && balance.consumedMs > consumedMs) tally.doubled += 1;
    if (balance?.reservedMs !== 0) tally.lost += 1;
  } finally {
    await pool.end();
    await proxy.stop();
  }
}

/**
 * Reserve, claim and close with the connection cut under each. Answers what the client believes it
 * was charged.
 */
async function oneSession(input: {
  ledger: Ledger;
  proxy: CuttingProxy;
  accountId: string;
  nodeEpoch: number;
  round: number;
  tally: Tally;
}): Promise<number> {
  const { ledger, proxy, accountId, nodeEpoch, tally } = input;
  const idempotencyKey = input.round % 2 === 0 ? randomUUID() : null;
  const reservation = await underCuts(proxy, idempotencyKey === null ? 1 : 2, () =>
    ledger.reserve({
      accountId,
      keyId: null,
      model: 'svc-asr-kikuyu-v1',
      requestedMs: 60_000,
      idempotencyKey,
      node: { id: NODE.id, url: NODE.publicUrl },
    }),
  );
  if (reservation.outcome !== 'reserved') {
    // Its own reservation stands in the way: the answer was lost and not found again.
    tally.lost += 1;
    return 0;
  }
  const session = {
    sessionId: reservation.session.id,
    accountId,
    nodeId: NODE.id,
    nodeEpoch,
    attemptId: randomUUID(),
  };
  const claim = await underCuts(proxy, 2, () => ledger.claim(session));
  if (claim.outcome !== 'claimed') tally.lost += 1;
  const seconds = 1 + (input.round % 50);
  await underCuts(proxy, 2, () =>
    ledger.close({ ...session, status: 'completed', samples: seconds * 16_000 - 1 }),
  );
  const stranger = await ledger.claim({ ...session, attemptId: randomUUID() });
  if (stranger.outcome !== 'used') tally.doubled += 1;
  return seconds * 1000;
}

/**
 * The ledger itself asks once more; when that is cut too, its caller does, as a node and an SDK
 * would.
 */
async function underCuts<T>(
  proxy: CuttingProxy,
  cutsMax: number,
  ask: () => Promise<T>,
): Promise<T> {
  const count = 1 + Math.floor(Math.random() * cutsMax);
  proxy.cutNext(...Array.from({ length: count }, anyCut));
  try {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
      }
    }
  } finally {
    proxy.calm();
  }
}

function anyCut(): Cut {
  return CUTS[Math.floor(Math.random() * CUTS.length)] ?? 'at-answer';
}
