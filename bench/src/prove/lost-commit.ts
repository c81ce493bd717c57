import { randomUUID } from 'node:crypto';
import { createAccount } from '@svc-asr/server/accounts/accounts.ts';
import { createPool, isDatabaseUnavailable, type Pool } from '@svc-asr/server/platform/db.ts';
import { findViolations } from '@svc-asr/server/ledger/audit.ts';
import { createLedger, type Ledger } from '@svc-asr/server/ledger/ledger.ts';
import { registerNode } from '@svc-asr/server/nodes/nodes.ts';
import { LOST_ANSWER_BUGS, type SqlBug } from '@svc-asr/testing/ledger/sql-bugs.ts';
import { onBrokenLedger } from '../broken-ledger.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { startCuttingProxy, type Cut, type CuttingProxy } from '../cutting-proxy.ts';
import { startTemporaryLedger } from '../temporary-ledger.ts';

const SIZE = { full: 5_000, short: 150 };
/** Cuts until a control is judged. They are random, so one that has not failed yet is cut again. */
const CONTROL_SIZE = 100;
const CONTROL_ROUNDS_MAX = 10;
const WORKERS = 4;
const CREDIT_MS = 1_000_000_000;
const NODE = {
  id: 'node-1',
  publicUrl: 'wss://node-1.example/v1/asr/stream',
  models: ['svc-asr-kikuyu-v1'],
  capacity: 100,
} as const;
const CUTS: readonly Cut[] = ['at-answer', 'at-answer', 'after-request', 'before-request'];

/** The campaign must detect each. */
const CONTROLS: Readonly<Record<string, SqlBug>> = {
  'a reservation whose response was lost is not looked up': LOST_ANSWER_BUGS.reservationForgotten,
  'an idempotency key is not looked up': LOST_ANSWER_BUGS.idempotencyKeyIgnored,
  'a claim does not recognise its own retry': LOST_ANSWER_BUGS.ownClaimNotRecognised,
  'a spent credential can be used again': LOST_ANSWER_BUGS.credentialUsedTwice,
  'a second close charges again, with all guards removed': LOST_ANSWER_BUGS.secondCloseCharges,
};

interface Tally {
  cuts: number;
  sessions: number;
  /** Reported as done but not found. */
  lost: number;
  /** Applied more than once. */
  doubled: number;
  /** Problems that the audit found afterwards. */
  violations: number;
}

/**
 * Cuts the connection around the COMMIT of reserve, claim and close. Every caller retries, and
 * nothing may be applied twice.
 */
export const about = 'connections cut around COMMIT: nothing is lost or applied twice';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const wanted = short ? SIZE.short : SIZE.full;
  const ledger = await startTemporaryLedger();
  try {
    const { port } = ledger.server;
    const tally = await cutEverywhere({
      owner: ledger.owner,
      url: ledger.server.url,
      port,
      wanted,
      log,
    });
    let controlsThatLose = 0;
    for (const [name, breakage] of Object.entries(CONTROLS)) {
      const control = await onBrokenLedger(ledger, breakage, (broken) =>
        cutUntilItFails({ ...broken, port, wanted: CONTROL_SIZE, log: () => {} }),
      );
      log(`control, ${name}: ${control.lost} lost, ${control.doubled} doubled`);
      if (control.lost + control.doubled > 0) controlsThatLose += 1;
    }
    const controls = Object.keys(CONTROLS).length;
    const { cuts, lost, doubled, violations } = tally;
    const held = cuts >= wanted && lost === 0 && doubled === 0 && violations === 0;
    return {
      passed: held && controlsThatLose === controls,
      figures: { ...tally, controls, controls_that_lose: controlsThatLose },
    };
  } finally {
    await ledger.stop();
  }
}

interface CutInput {
  readonly owner: Pool;
  readonly url: string;
  /** The PostgreSQL behind the proxy. */
  readonly port: number;
  readonly wanted: number;
  readonly log: (line: string) => void;
}

async function cutEverywhere(input: CutInput): Promise<Tally> {
  const tally: Tally = { cuts: 0, sessions: 0, lost: 0, doubled: 0, violations: 0 };
  const nodeEpoch = await registerNode(input.owner, NODE);
  const workers = Array.from({ length: WORKERS }, () =>
    cutSessions({ ...input, nodeEpoch, tally }),
  );
  await Promise.all(workers);
  const found = await findViolations(input.owner);
  for (const line of found) input.log(line);
  tally.violations = found.length;
  return tally;
}

async function cutUntilItFails(input: CutInput): Promise<Tally> {
  for (let round = 1; ; round += 1) {
    const tally = await cutEverywhere(input);
    if (tally.lost + tally.doubled > 0 || round === CONTROL_ROUNDS_MAX) return tally;
  }
}

async function cutSessions(input: CutInput & { nodeEpoch: number; tally: Tally }): Promise<void> {
  const { owner, tally } = input;
  const proxy = await startCuttingProxy(input);
  const pool = createPool({
    url: input.url.replace(/:\d+\//, `:${proxy.port}/`),
    role: 'svc_all',
    maxConnections: 1,
  });
  const accountId = await createAccount(owner, { name: 'Cut' });
  const ledger = createLedger(pool);
  let consumedMs = 0;
  await createLedger(owner).grant({
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
    const balance = await createLedger(owner).balance(accountId);
    // Compare with the client's own sum: every second it streamed was charged once.
    if (balance === null || balance.consumedMs < consumedMs) tally.lost += 1;
    if (balance !== null && balance.consumedMs > consumedMs) tally.doubled += 1;
    if (balance?.reservedMs !== 0) tally.lost += 1;
  } finally {
    await pool.end();
    await proxy.stop();
  }
}

/**
 * Reserves, claims and closes with the connection cut during each call. Returns the charge that the
 * client expects.
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
    // Blocked by its own reservation: the lost response was not recovered.
    tally.lost += 1;
    return 0;
  }
  const session = {
    sessionId: reservation.session.id,
    accountId,
    nodeId: NODE.id,
    nodeEpoch,
    upgradeId: randomUUID(),
  };
  const claim = await underCuts(proxy, 2, () => ledger.claim(session));
  if (claim.outcome !== 'claimed') tally.lost += 1;
  const seconds = 1 + (input.round % 50);
  await underCuts(proxy, 2, () =>
    ledger.close({ ...session, status: 'completed', samples: seconds * 16_000 - 1 }),
  );
  const stranger = await ledger.claim({ ...session, upgradeId: randomUUID() });
  if (stranger.outcome !== 'used') tally.doubled += 1;
  return seconds * 1000;
}

/**
 * The ledger retries once itself. If that is cut too, its caller retries, as a node and an SDK
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
        if (!isDatabaseUnavailable(error)) throw error;
      }
    }
  } finally {
    proxy.calm();
  }
}

function anyCut(): Cut {
  return CUTS[Math.floor(Math.random() * CUTS.length)] ?? 'at-answer';
}
