import { generateSecrets } from '@svc-asr/server/config.ts';
import { createPool, type Pool } from '@svc-asr/server/platform/database/db.ts';
import { findViolations } from '@svc-asr/server/ledger/reports/audit.ts';
import { migrate } from '@svc-asr/server/platform/database/migrate.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { createAccountWithKey } from '@svc-asr/local/account-with-key.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { registerCampaignNode } from '../campaign-node.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Cluster } from '../postgres-cluster/cluster.ts';
import { FAULTS, type Fault } from '../postgres-cluster/faults.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { emptyTally, LiveCaller, type CallerTally } from '../service/live-caller.ts';
import { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { compareCharges, startSessionLoad, type Load } from '../session-load.ts';

const ROUNDS = 2;
const SIZE = { full: { clients: 12, callers: 8 }, short: { clients: 4, callers: 2 } };
/** Goal: writable again within this time. */
const RECOVERY_S_MAX = 30;
const GIVE_UP_MS = 120_000;
/** Sessions settled on the new primary before a fault counts as over. */
const SETTLED_AFTER = 20;
const CREDIT_MS = 3_600_000;

/**
 * Three database hosts behind HAProxy lose their primary in six ways, while clients create and settle sessions and
 * callers stream. The database must match the charges acknowledged to the clients.
 */
export const about =
  'a PostgreSQL primary lost in six ways under load: nothing acknowledged is lost or doubled';

export async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const faults = chooseFaults(short ? ['kill'] : args);
  const { clients, callers } = short ? SIZE.short : SIZE.full;
  const cluster = await Cluster.start();
  log('three hosts are up, one primary and two synchronous standbys');
  const owner = createPool({ url: cluster.url, statementTimeoutMs: 60_000 });
  let load: Load | undefined;
  let streams: Streams | undefined;
  try {
    await migrate({ url: cluster.url });
    const nodeEpoch = await registerCampaignNode(owner);
    load = await startSessionLoad({ databaseUrl: cluster.url, owner, clients, nodeEpoch });
    streams = await Streams.start({ databaseUrl: cluster.url, owner, callers });
    await streams.untilSpeaking();
    const recoveriesS: number[] = [];
    for (const [name, fault] of faults) {
      const recoveryS = await strike({ cluster, fault, load });
      recoveriesS.push(recoveryS);
      // The old primary must be able to come back. Short runs don't wait for it.
      if (!short) await cluster.untilWhole();
      log(`${name}: writable after ${recoveryS.toFixed(1)} s, ${load.tally.settled} settled`);
    }
    await load.finish();
    await streams.finish();
    const { lost, doubled } = await compareCharges(owner, load.clients);
    const found = await findViolations(owner);
    for (const line of found) log(line);
    const figures = {
      kills: recoveriesS.length,
      sessions: load.tally.settled,
      lost,
      doubled,
      violations: found.length,
      recovery_p50_s: percentile(recoveriesS, 0.5),
      recovery_p95_s: percentile(recoveriesS, 0.95),
      recovery_max_s: Math.max(...recoveriesS),
      streams: streams.tally.sessions,
      streams_failed: streams.tally.failed,
      words_lost: streams.tally.lost,
      billed_difference_ms: streams.tally.billed_difference_ms,
      refusals: streams.refusals(),
    };
    const wrong =
      lost +
      doubled +
      found.length +
      figures.streams_failed +
      figures.words_lost +
      figures.billed_difference_ms +
      figures.refusals;
    const passed = wrong === 0 && figures.recovery_max_s <= RECOVERY_S_MAX;
    return { passed, figures };
  } finally {
    await streams?.stop();
    await load?.stop();
    await owner.end();
    await cluster.stop();
  }
}

/** Returns the faults named on the command line, or all of them several times. */
function chooseFaults(names: readonly string[]): [string, Fault][] {
  const all = Object.entries(FAULTS);
  if (names.length === 0) return Array.from({ length: ROUNDS }, () => all).flat();
  const unknown = names.filter((name) => !(name in FAULTS));
  if (unknown.length > 0) throw new Error(`Unknown faults: ${unknown.join(', ')}`);
  return names.flatMap((name) => all.filter(([known]) => known === name));
}

/** Returns the longest time without an acknowledged settlement, until the next primary serves. */
async function strike(input: { cluster: Cluster; fault: Fault; load: Load }): Promise<number> {
  const { cluster, fault, load } = input;
  const old = await cluster.primary();
  if (old === null) throw new Error('There is no primary.');
  let settled = load.tally.settled;
  let settledAtMs = performance.now();
  let longestMs = 0;
  const watch = setInterval(() => {
    if (load.tally.settled === settled) return;
    settled = load.tally.settled;
    longestMs = Math.max(longestMs, performance.now() - settledAtMs);
    settledAtMs = performance.now();
  }, 20);
  try {
    const heal = await fault({ cluster, primary: old });
    await eventually(async () => ![null, old].includes(await cluster.primary()), GIVE_UP_MS);
    const target = load.tally.settled + SETTLED_AFTER;
    await eventually(() => load.tally.settled >= target, GIVE_UP_MS);
    await heal();
    return Math.round(longestMs / 100) / 10;
  } finally {
    clearInterval(watch);
  }
}

/** A service process with live callers that check every word and the charge. */
class Streams {
  readonly tally: CallerTally;
  readonly #service: ServiceProcess;
  readonly #callers: readonly LiveCaller[];
  readonly #running: Promise<unknown>;

  private constructor(input: {
    service: ServiceProcess;
    callers: readonly LiveCaller[];
    tally: CallerTally;
  }) {
    this.tally = input.tally;
    this.#service = input.service;
    this.#callers = input.callers;
    this.#running = Promise.all(input.callers.map((caller) => caller.run(() => {})));
    // finish() awaits it.
    this.#running.catch(() => {});
  }

  static async start(input: {
    databaseUrl: string;
    owner: Pool;
    callers: number;
  }): Promise<Streams> {
    const secrets = generateSecrets();
    const service = await ServiceProcess.start({
      ...secrets,
      PORT: '0',
      DATABASE_URL: input.databaseUrl,
      PUBLIC_STREAM_URL: 'ws://placed.invalid',
      ALLOW_INSECURE_WS: '1',
      NODE_ID: 'streams',
      MODELS_DIR,
      ENGINE_CHILDREN: '1',
      LOG_LEVEL: 'info',
    });
    const pepper = Buffer.from(secrets.API_KEY_PEPPER, 'base64');
    const tally = emptyTally();
    const callers: LiveCaller[] = [];
    for (let at = 0; at < input.callers; at += 1) {
      const tenant = await createAccountWithKey(input.owner, { creditMs: CREDIT_MS, pepper });
      callers.push(new LiveCaller({ service, tenant, sentence: 'kikuyu-2', tally }));
    }
    return new Streams({ service, callers, tally });
  }

  /** Waits until every caller has a result, so that each fault hits open streams. */
  async untilSpeaking(): Promise<void> {
    await eventually(() => this.#callers.every(({ answers }) => answers > 0), GIVE_UP_MS);
  }

  /** How often the service refused a database that had lost nothing. */
  refusals(): number {
    return this.#service.lines.filter((line) => line.includes('has lost ledger history')).length;
  }

  async finish(): Promise<void> {
    for (const caller of this.#callers) caller.stop();
    await this.#running;
  }

  async stop(): Promise<void> {
    this.#service.kill('SIGKILL');
    await this.#service.exited;
  }
}
