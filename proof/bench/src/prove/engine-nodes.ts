import { setTimeout as sleep } from 'node:timers/promises';
import { ROLE_NAME } from '@svc-asr/engine';
import { EngineNodeProcess, tlsEnvironment } from '@svc-asr/local/engine-node-process.ts';
import { PrivateCa } from '@svc-asr/testing/engine/private-ca.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Fleet } from '../service/fleet.ts';
import { measureLosses } from '../service/loss-campaign.ts';
import { MEASURED, metric } from '../service/metrics.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

const NODES = 2;
const DRAIN_MS_MAX = 35_000;

export const about =
  'kill -9, SIGSTOP and SIGTERM of engine nodes under live streams: no word is lost';

export async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const faults = Number(args[0] ?? (short ? 2 : 200));
  const ca = await PrivateCa.create();
  const fleet = await Fleet.start();
  const nodes: EngineNodeProcess[] = [];
  try {
    const tls = await ca.issue(ROLE_NAME.engine);
    for (let at = 0; at < NODES; at += 1) nodes.push(await EngineNodeProcess.start({ tls }));
    const service = await fleet.launch({
      ...MEASURED,
      ...tlsEnvironment(await ca.issue(ROLE_NAME.gateway)),
      ENGINE_ADDRESSES: nodes.map(({ address }) => address).join(','),
    });
    const target = new NodeTarget(service, nodes);
    const result = await measureLosses({
      fleet,
      service,
      streams: short ? 8 : 40,
      faults,
      judgeLag: !short,
      strike: (fault) => target.strike(fault),
      whole: () => target.whole(),
      falseFailovers: () => target.falseFailovers(),
      atEnd: () => target.drain(),
      log,
    });
    const drainMs = Math.round(target.drainedMs);
    return {
      passed: result.passed && drainMs <= DRAIN_MS_MAX,
      figures: { ...result.figures, drain_ms: drainMs },
    };
  } finally {
    await fleet.stop();
    await Promise.all(nodes.map((node) => node.stop()));
    await ca.remove();
  }
}

/** Injects a fault into each node in turn and replaces it, as a supervisor would. */
class NodeTarget {
  drainedMs = 0;
  readonly #service: ServiceProcess;
  readonly #nodes: readonly EngineNodeProcess[];
  #strikes = 0;
  #replacing: Promise<void> = Promise.resolve();

  constructor(service: ServiceProcess, nodes: readonly EngineNodeProcess[]) {
    this.#service = service;
    this.#nodes = nodes;
  }

  async strike(fault: 'kill' | 'stop'): Promise<void> {
    const victim = this.#nodes[this.#strikes % this.#nodes.length];
    if (victim === undefined) throw new Error('No node is running.');
    this.#strikes += 1;
    if (fault === 'kill') this.#replacing = victim.replace();
    else this.#replacing = this.#replaceStopped(victim);
  }

  async whole(): Promise<void> {
    await this.#replacing;
    while ((await metric(this.#service, 'svc_engine_nodes{state="serving"}')) < NODES) {
      await sleep(50);
    }
  }

  falseFailovers(): number {
    return this.#lost() - this.#strikes;
  }

  /** Drains the last healthy node while all streams are open. */
  async drain(): Promise<void> {
    const [node] = this.#nodes;
    node?.signal('SIGTERM');
    this.drainedMs = (await node?.exited()) ?? 0;
    // A drain is not counted as a failover.
    await sleep(1_000);
  }

  async #replaceStopped(victim: EngineNodeProcess): Promise<void> {
    const before = this.#lost();
    victim.signal('SIGSTOP');
    while (this.#lost() === before) await sleep(50);
    await victim.replace();
  }

  #lost(): number {
    return this.#service.lines.filter((line) => line.includes('"node_lost"')).length;
  }
}
