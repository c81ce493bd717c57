import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setConcurrency } from '@svc-asr/server/accounts/accounts.ts';
import { findViolations } from '@svc-asr/server/ledger/reports/audit.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Fleet } from '../service/fleet.ts';
import { StormTalker } from '../service/storm-talker.ts';

/**
 * The storm `third` of the simulation with real processes: hundreds of streams of the real SDK on nodes with the scripted engine,
 * and a third of the nodes is killed. Then the same cell is simulated, and the waits must agree.
 */
const NODES = 6;
const APIS = 2;
/** The share of the slots in use. */
const USE = 0.6;
const SLOTS_STEP = 4;
const CREDIT_MS = 1_000_000_000;
/** Half of the talkers have an account of their own, and 20 others share one with 25 slots. */
const SHARED = { talkers: 20, slots: 25 };
const BEFORE_MS = 12_000;
const BACK_MS = { min: 20_000, more: 3_000 };
const AFTER_MS = 60_000;
const SETTLED_MS_MAX = 60_000;
/** How much the waits of the simulated and the real cell may differ. */
const DIFFERENCE_PCT_MAX = 30;
const MAIN = fileURLToPath(new URL('../service/scripted-main.ts', import.meta.url));
const SIMULATOR = fileURLToPath(new URL('../../../simulate/src/main.ts', import.meta.url));

export const about =
  'a third of the nodes killed under 500 live streams, and the same cell simulated: nothing lost, and the waits agree';

interface Figures {
  readonly gap_mean_ms: number;
  readonly gap_p50_ms: number;
  readonly gap_p99_ms: number;
  readonly gap_max_ms: number;
}

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const streams = short ? 100 : 500;
  const real = await runReal(streams, log);
  log('the same cell, simulated');
  const simulated = await simulate(streams);
  // The median of few streams jumps between those that wait for a slot of their account and those that don't.
  const differs_pct = Math.max(
    differencePct(real.gap_mean_ms, simulated.gap_mean_ms),
    differencePct(real.gap_p99_ms, simulated.gap_p99_ms),
    differencePct(real.gap_max_ms, simulated.gap_max_ms),
  );
  const figures = {
    ...real,
    simulated_gap_mean_ms: simulated.gap_mean_ms,
    simulated_gap_p50_ms: simulated.gap_p50_ms,
    simulated_gap_p99_ms: simulated.gap_p99_ms,
    simulated_gap_max_ms: simulated.gap_max_ms,
    differs_pct,
  };
  const wrong = real.failed + real.lost_ms + real.doubled_ms + real.violations;
  const passed = wrong === 0 && real.affected > 0 && differs_pct <= DIFFERENCE_PCT_MAX;
  return { passed, figures };
}

async function runReal(streams: number, log: CampaignOptions['log']) {
  const fleet = await Fleet.start();
  try {
    const apis = await Promise.all(
      Array.from({ length: APIS }, (_, at) => fleet.launch({ ROLE: 'api', NODE_ID: `api-${at}` })),
    );
    const slots = SLOTS_STEP * Math.ceil(streams / USE / NODES / SLOTS_STEP);
    const nodes = await Promise.all(
      Array.from({ length: NODES }, (_, at) => StormNode.start(fleet, { at, slots })),
    );
    const talkers = await addTalkers(fleet, apis, streams);
    const rampMs = Math.min(15_000, Math.max(2_000, streams * 4));
    for (const talker of talkers) talker.start(rampMs * Math.random());
    await sleep(rampMs + BEFORE_MS);
    await fleet.untilLeasesCount();
    const dying = nodes.filter((_, at) => at % 3 === 0);
    const hosts = new Set(dying.map(({ host }) => host));
    const affected = talkers.filter(({ isReady, host }) => isReady && hosts.has(host));
    log(`${affected.length} of ${streams} streams are on the ${dying.length} nodes that die now`);
    for (const talker of talkers) talker.gaps.length = 0;
    for (const talker of affected) talker.interruptedAtMs = performance.now();
    for (const node of dying) node.kill();
    const back = dying.map(async (node) => {
      await sleep(BACK_MS.min + BACK_MS.more * Math.random());
      await node.restart();
    });
    await sleep(AFTER_MS);
    await Promise.all(back);
    await Promise.all(talkers.map((talker) => talker.stop()));
    const gaps = talkers.flatMap((talker) => talker.gaps);
    const ended = talkers.flatMap((talker) => talker.ended);
    const errors = ended.flatMap(({ error }) => error ?? []);
    for (const error of new Set(errors)) log(`failed: ${error}`);
    return {
      streams: ended.length,
      affected: affected.length,
      gap_mean_ms: Math.round(gaps.reduce((sum, gap) => sum + gap, 0) / Math.max(1, gaps.length)),
      gap_p50_ms: quantile(gaps, 0.5),
      gap_p99_ms: quantile(gaps, 0.99),
      gap_max_ms: quantile(gaps, 1),
      failed: errors.length,
      lost_ms: ended.reduce((sum, { lostMs }) => sum + lostMs, 0),
      doubled_ms: await doubledMs(fleet, talkers),
      violations: (await findViolations(fleet.pool)).length,
    };
  } finally {
    await fleet.stop();
  }
}

/** A node that keeps its name and address when it is restarted. */
class StormNode {
  readonly host: string;
  readonly #fleet: Fleet;
  readonly #settings: Readonly<Record<string, string>>;
  #process: ServiceProcess;

  private constructor(
    fleet: Fleet,
    settings: Readonly<Record<string, string>>,
    node: ServiceProcess,
  ) {
    this.#fleet = fleet;
    this.#settings = settings;
    this.#process = node;
    this.host = new URL(node.streamUrl).host;
  }

  static async start(
    fleet: Fleet,
    { at, slots }: { at: number; slots: number },
  ): Promise<StormNode> {
    const port = String(await freePort());
    const settings = {
      ROLE: 'node',
      NODE_ID: `storm-${at}`,
      PORT: port,
      PUBLIC_STREAM_URL: `ws://127.0.0.1:${port}`,
      SCRIPTED_SLOTS: String(slots),
    };
    return new StormNode(fleet, settings, await fleet.launch(settings, MAIN));
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.#process.exited;
    this.#process = await this.#fleet.launch(this.#settings, MAIN);
  }
}

async function addTalkers(
  fleet: Fleet,
  apis: readonly ServiceProcess[],
  streams: number,
): Promise<StormTalker[]> {
  const alone = Math.round(streams / 2);
  const groups = Math.ceil((streams - alone) / SHARED.talkers);
  const own = await fleet.addTenants(alone, CREDIT_MS);
  const common = await fleet.addTenants(groups, CREDIT_MS);
  for (const { accountId } of common) {
    await setConcurrency(fleet.pool, { id: accountId, limit: SHARED.slots });
  }
  const sharing = Array.from({ length: streams - alone }, (_, at) => common[at % groups]);
  const tenants = [...own, ...sharing];
  return tenants.map((tenant, at) => {
    const api = apis[at % apis.length];
    if (tenant === undefined || api === undefined) throw new Error('No account.');
    return new StormTalker({ url: api.url, apiKey: tenant.apiKey });
  });
}

/** What finished streams were charged for beyond the audio that they wrote, when all sessions are settled. */
async function doubledMs(fleet: Fleet, talkers: readonly StormTalker[]): Promise<number> {
  const untilMs = performance.now() + SETTLED_MS_MAX;
  for (;;) {
    const { rows } = await fleet.pool.query<{ id: string; status: string; charged: string }>(
      'select id, status, samples - coalesce(replayed_samples, 0) as charged from sessions',
    );
    const isOpen = rows.some(({ status }) => status === 'active');
    if (isOpen && performance.now() < untilMs) {
      await sleep(500);
      continue;
    }
    const charged = new Map(
      rows.map(({ id, status, charged: samples }) => [
        id,
        status === 'completed' ? Number(samples) / 16 : 0,
      ]),
    );
    const finished = talkers.flatMap(({ ended }) => ended.filter(({ error }) => error === null));
    return finished.reduce((sum, { sessionIds, writtenMs }) => {
      const chargedMs = sessionIds.reduce((ms, id) => ms + (charged.get(id) ?? 0), 0);
      return sum + Math.max(0, chargedMs - writtenMs);
    }, 0);
  }
}

async function simulate(streams: number): Promise<Figures> {
  const options = ['--streams', streams, '--nodes', NODES, '--apis', APIS, '--use', USE].map(
    String,
  );
  const storm = [SIMULATOR, '--storm', 'third', ...options];
  // It ends with 1 if it misses a goal, which is judged elsewhere.
  const { stdout } = await promisify(execFile)(process.execPath, storm).catch(
    (failed: { stdout: string }) => failed,
  );
  const { figures }: { figures: Figures } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  return figures;
}

function differencePct(real: number, simulated: number): number {
  return Math.round((100 * Math.abs(real - simulated)) / simulated);
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0);
}
