import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { linkCells } from '@svc-asr/server/cells/link-cells.ts';
import { addToEdge } from '@svc-asr/server/cells/edge-files.ts';
import { moveAccount } from '@svc-asr/server/cells/move-account.ts';
import { findViolations } from '@svc-asr/server/ledger/reports/audit.ts';
import { createPool, type Pool } from '@svc-asr/server/platform/database/db.ts';
import { KILL_POINTS, runMover, type KillPoint } from '@svc-asr/testing/cells/killable-mover.ts';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { startEdge, type Proxy } from '@svc-asr/testing/haproxy.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { CampaignCell, type CellPeppers } from '../cells/campaign-cell.ts';
import { CellCaller, type EdgeAddress } from '../cells/cell-caller.ts';

/**
 * Two cells behind the bundled edge. Accounts move while their clients create sessions and stream, and the mover is
 * killed at every step. Then one cell dies. The balances must match the clients' own counts, and both audits must pass.
 */
const CREDIT_MS = 10_000_000;
const DRAIN_MS = 60_000;
/** Accounts that move at the same time. */
const LANES = 3;
/** Accounts in each cell that don't move. */
const BYSTANDERS = 2;

export const about =
  'accounts moved between two cells, the mover killed at every step, then a cell killed';

interface Stage {
  readonly k1: CampaignCell;
  readonly k2: CampaignCell;
  readonly moving: readonly CellCaller[];
  readonly stayingHere: readonly CellCaller[];
  readonly stayingThere: readonly CellCaller[];
  readonly log: CampaignOptions['log'];
}

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const [rounds, streamMs, downMs] = short ? [1, 1_000, 3_000] : [6, 3_000, 20_000];
  const edgeFolder = await mkdtemp(join(tmpdir(), 'svc-edge-'));
  const [certificate, edgePort] = await Promise.all([makeCertificate(), freePort()]);
  const [first, second] = makePeppers();
  const cells: CampaignCell[] = [];
  const callers: CellCaller[] = [];
  let proxy: Proxy | null = null;
  try {
    const starting = [
      CampaignCell.start({ id: 'k1', peppers: first, edgePort }),
      CampaignCell.start({ id: 'k2', peppers: second, edgePort }),
    ] as const;
    for (const cell of starting) cells.push(await cell);
    const [k1, k2] = [await starting[0], await starting[1]];
    await linkCells(k1.fleet.pool, k2.fleet.pool);
    for (const cell of cells) await addToEdge(edgeFolder, cell.id, [cell.address]);
    proxy = await startEdge({ certificate, port: edgePort, folder: edgeFolder });
    const edge = { url: proxy.url, ca: certificate.cert };
    const call = async (cell: CampaignCell, count: number): Promise<CellCaller[]> => {
      const started = await startCallers({ cell, count, edge, streamMs });
      callers.push(...started);
      return started;
    };
    const stage: Stage = {
      k1,
      k2,
      moving: await call(k1, KILL_POINTS.length),
      stayingHere: await call(k1, BYSTANDERS),
      stayingThere: await call(k2, BYSTANDERS),
      log,
    };
    // A caller that fails ends the campaign with its error.
    const failures = callers.map(({ failure }) => failure);
    const moves = await Promise.race([moveAll(stage, rounds), ...failures]);
    const down = await Promise.race([loseCell(stage, downMs), ...failures]);
    await Promise.all(callers.map((caller) => caller.stop()));
    const money = await compareSums([k1, k2], callers);
    const figures = {
      cells: cells.length,
      ...moves,
      ...down,
      ...money,
      sessions: sum(callers, ({ sessions }) => sessions),
      cut: sum(callers, ({ cut }) => cut),
      misrouted: sum(callers, ({ misrouted }) => misrouted),
      wrong: sum(callers, ({ wrong }) => wrong),
    };
    const bad =
      figures.lost_ms +
      figures.doubled_ms +
      figures.refused_elsewhere +
      figures.violations +
      figures.cut +
      figures.misrouted +
      figures.wrong;
    const expected = rounds * KILL_POINTS.length;
    const passed =
      bad === 0 &&
      moves.moved_accounts === expected &&
      moves.killed === expected &&
      down.refused_own > 0;
    return { passed, figures };
  } finally {
    await Promise.allSettled(callers.map((caller) => caller.stop()));
    await proxy?.stop();
    await Promise.all(cells.map((cell) => cell.stop()));
    await rm(edgeFolder, { recursive: true, force: true });
  }
}

/** Each cell has its own pepper and also knows the other's, so that keys work after a move. */
function makePeppers(): [CellPeppers, CellPeppers] {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const entries = [`1:${first.toString('base64')}`, `2:${second.toString('base64')}`];
  return [
    { id: 1, secret: first, keyring: entries.join(',') },
    { id: 2, secret: second, keyring: entries.toReversed().join(',') },
  ];
}

async function startCallers(input: {
  cell: CampaignCell;
  count: number;
  edge: EdgeAddress;
  streamMs: number;
}): Promise<CellCaller[]> {
  const callers: CellCaller[] = [];
  for (let at = 0; at < input.count; at += 1) {
    const tenant = await input.cell.addTenant(CREDIT_MS);
    callers.push(new CellCaller({ ...input, tenant }).start());
  }
  return callers;
}

/** Every round moves all accounts to the other cell. Each mover dies before another step and is run again. */
async function moveAll(stage: Stage, rounds: number) {
  const tally = { moved_accounts: 0, killed: 0, move_ms_max: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const [from, to] = round % 2 === 0 ? [stage.k1, stage.k2] : [stage.k2, stage.k1];
    const left = [...KILL_POINTS.entries()];
    const lane = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [at, killBefore] = next;
        const caller = stage.moving[(at + round) % stage.moving.length];
        if (caller === undefined) throw new Error('No caller.');
        const tookMs = await moveOnce({ from, to, caller, killBefore, tally });
        tally.move_ms_max = Math.max(tally.move_ms_max, Math.round(tookMs));
        stage.log(`round ${round + 1}: moved to ${to.id}, killed before ${killBefore}`);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }
  // An even number of rounds ends in the first cell, so that the moved accounts are not in the cell that dies.
  if (rounds % 2 === 0) {
    for (const caller of stage.moving) {
      await resume({ from: stage.k1, to: stage.k2, caller });
    }
  }
  const served = stage.moving.map(({ sessions }) => sessions + 1);
  const isServed = (): boolean =>
    stage.moving.every(({ sessions }, at) => sessions > (served[at] ?? Infinity));
  await eventually(isServed, DRAIN_MS);
  const refusedMs = stage.moving.map(({ refusedMsMax }) => refusedMsMax);
  return { ...tally, refused_ms_max: Math.round(Math.max(...refusedMs)) };
}

async function moveOnce(input: {
  from: CampaignCell;
  to: CampaignCell;
  caller: CellCaller;
  killBefore: KillPoint;
  tally: { moved_accounts: number; killed: number };
}): Promise<number> {
  const { from, to, caller, killBefore, tally } = input;
  const ended = await runMover({
    sourceUrl: from.fleet.postgres.url,
    targetUrl: to.fleet.postgres.url,
    accountId: caller.tenant.accountId,
    targetCell: to.id,
    drainMs: DRAIN_MS,
    killBefore,
  });
  if (ended === 'killed') tally.killed += 1;
  const tookMs = await resume({ from, to, caller });
  tally.moved_accounts += 1;
  return tookMs;
}

async function resume(input: {
  from: CampaignCell;
  to: CampaignCell;
  caller: CellCaller;
}): Promise<number> {
  const { from, to, caller } = input;
  const [source, target] = [moverOf(from), moverOf(to)];
  const beganMs = performance.now();
  try {
    const { accountId } = caller.tenant;
    const move = { source, target, accountId, targetCell: to.id, drainMs: DRAIN_MS };
    await moveAccount({ ...move, onStep: () => {} });
    return performance.now() - beganMs;
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
}

function moverOf({ fleet }: CampaignCell): Pool {
  // As patient as `svc-admin accounts move`, and with a busy machine.
  return createPool({
    url: fleet.postgres.url,
    role: 'svc_mover',
    maxConnections: 1,
    connectTimeoutMs: DRAIN_MS,
    statementTimeoutMs: DRAIN_MS,
  });
}

/** Kills the cell that the moved accounts came from. Accounts in the other cell must not be affected. */
async function loseCell(stage: Stage, downMs: number) {
  const elsewhere = [...stage.moving, ...stage.stayingThere];
  // Accounts that never moved must never be refused.
  const staying = [...stage.stayingHere, ...stage.stayingThere];
  const refusedBefore = sum(staying, ({ refused }) => refused);
  // The last charge of a stream that died with its cell may or may not be settled.
  await Promise.all(stage.stayingHere.map((caller) => caller.stop()));
  const before = sum(elsewhere, ({ refused }) => refused);
  const sessionsBefore = sum(elsewhere, ({ sessions }) => sessions);
  await stage.k1.die();
  const own = stage.stayingHere[0];
  const answer = await own?.create(randomUUID());
  await sleep(downMs);
  const refused = sum(elsewhere, ({ refused: count }) => count) - before;
  const served = sum(elsewhere, ({ sessions }) => sessions) - sessionsBefore;
  stage.log(`k1 was down for ${downMs} ms: ${served} sessions elsewhere, ${refused} refused`);
  await stage.k1.fleet.restartDatabase();
  const refusedOwn = answer?.status === 503 && answer.retryAfter !== undefined ? 1 : 0;
  return {
    refused_elsewhere: refused + refusedBefore,
    served_elsewhere: served,
    refused_own: refusedOwn,
  };
}

/** Compares the charge in the serving cell with the client's own count, for each account. */
async function compareSums(cells: readonly CampaignCell[], callers: readonly CellCaller[]) {
  const tally = { lost_ms: 0, doubled_ms: 0, violations: 0 };
  for (const { tenant, consumedMs } of callers) {
    const serving: { consumed_ms: number; available_ms: number; reserved_ms: number }[] = [];
    for (const { fleet } of cells) {
      const { rows } = await fleet.pool.query<(typeof serving)[number]>(
        `select consumed_ms, available_ms, reserved_ms from accounts
          where id = $1 and move_state is null`,
        [tenant.accountId],
      );
      serving.push(...rows);
    }
    const [account] = serving;
    if (account === undefined || serving.length > 1) {
      tally.violations += 1;
      continue;
    }
    const difference = account.consumed_ms - consumedMs;
    tally.lost_ms += Math.max(0, -difference);
    tally.doubled_ms += Math.max(0, difference);
    const credit = account.available_ms + account.reserved_ms + account.consumed_ms;
    if (credit !== CREDIT_MS) tally.violations += 1;
  }
  for (const { fleet } of cells) tally.violations += (await findViolations(fleet.pool)).length;
  return tally;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
