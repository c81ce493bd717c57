import { ROLE_NAME, type TlsFiles } from '@svc-asr/engine';
import { EngineNodeProcess, tlsEnvironment } from '@svc-asr/local/engine-node-process.ts';
import { PrivateCa } from '@svc-asr/testing/engine/private-ca.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { cpuMsOf } from '../engine/processor.ts';
import { audioSeconds } from '../engine/throughput.ts';
import { distinctUtterance } from '../engine/utterances.ts';
import { Fleet } from '../service/fleet.ts';
import { startLoad, type Load } from '../service/load.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { serviceCpuMs } from '../service/service-cpu.ts';
import { measureGateway } from '../tier/gateway-load.ts';
import { ScriptedNodes, runSpeakers } from '../tier/scripted-nodes.ts';

const GOALS = { hopUs: 700, streamsPerCore: 1_000, addedMs: 2, liveStreams: 2_000 };
const STREAMS_FIRST = 250;
const STREAMS_STEP = 250;

export const about =
  'cost of engine nodes: the hop with mutual TLS, a gateway core, the whole path';

interface TierBench extends CampaignOptions {
  readonly fleet: Fleet;
  readonly load: Load;
  readonly nodes: ScriptedNodes;
  readonly nodeTls: TlsFiles;
  readonly gatewayTls: TlsFiles;
}

export async function run(options: CampaignOptions): Promise<CampaignResult> {
  const ca = await PrivateCa.create();
  const nodeTls = await ca.issue(ROLE_NAME.engine);
  const gatewayTls = await ca.issue(ROLE_NAME.gateway);
  const [fleet, load, nodes] = await Promise.all([
    Fleet.start(),
    startLoad(),
    ScriptedNodes.start(2, nodeTls),
  ]);
  const bench = { ...options, fleet, load, nodes, nodeTls, gatewayTls };
  try {
    const hop = await measureHop(bench);
    const gateway = await measureGateway({
      ...bench,
      steps: steps(bench),
      seconds: options.short ? 4 : 20,
    });
    const liveStreams = gateway['live_streams'] ?? 0;
    const ratio = await measureWholePath(bench);
    // The short form is too short to amortise connections and compilation: it only shows that everything works.
    const isReached =
      options.short ||
      (hop.hop_us_per_audio_s <= GOALS.hopUs &&
        hop.added_ms_p50 <= GOALS.addedMs &&
        (gateway['streams_per_gateway_core'] ?? 0) >= GOALS.streamsPerCore &&
        liveStreams >= GOALS.liveStreams);
    return {
      passed: isReached && liveStreams > 0,
      figures: { ...hop, ...gateway, ratio },
    };
  } finally {
    await nodes.stop();
    await fleet.stop();
    await load.stop();
    await ca.remove();
  }
}

/** Returns the extra CPU time of both ends of the hop, compared with the same clients and an in-process engine. */
async function measureHop({ nodes, gatewayTls, short, log }: TierBench) {
  const order = { streams: short ? 100 : 400, seconds: short ? 4 : 20 };
  const local = await runSpeakers({ ...order, remote: null });
  const before = cpuMsOf(nodes.pids);
  const remote = { addresses: nodes.addresses, tls: gatewayTls };
  const far = await runSpeakers({ ...order, remote });
  const nodeMs = cpuMsOf(nodes.pids) - before;
  const gatewayUs = usPerAudioS(far.cpuMs, far.audioS) - usPerAudioS(local.cpuMs, local.audioS);
  const nodeUs = usPerAudioS(nodeMs, far.audioS);
  const addedMs = percentile(far.lagsMs, 0.5) - percentile(local.lagsMs, 0.5);
  log(`hop: ${gatewayUs.toFixed(0)} us in the gateway, ${nodeUs.toFixed(0)} us in the node`);
  return {
    hop_us_per_audio_s: Math.round(gatewayUs + nodeUs),
    gateway_us_per_audio_s: Math.round(gatewayUs),
    node_us_per_audio_s: Math.round(nodeUs),
    added_ms_p50: Number(addedMs.toFixed(2)),
  };
}

function usPerAudioS(cpuMs: number, audioS: number): number {
  return (cpuMs * 1000) / audioS;
}

/** Argument: the only number of streams to try. */
function steps({ short, args }: TierBench): number[] {
  if (args[0] !== undefined) return [Number(args[0])];
  if (short) return [50];
  const count = (GOALS.liveStreams - STREAMS_FIRST) / STREAMS_STEP + 1;
  return Array.from({ length: count }, (_, at) => STREAMS_FIRST + at * STREAMS_STEP);
}

/** Compares audio seconds per CPU second of recognisers in engine nodes and in the gateway's own process. */
async function measureWholePath({ fleet, load, nodeTls, gatewayTls, short, log }: TierBench) {
  const node = await EngineNodeProcess.start({ tls: nodeTls, slots: 5_000 });
  try {
    const local = await fleet.launch({ ENGINE_SLOTS_PER_CHILD: '5000' });
    const remote = await fleet.launch({
      ...tlsEnvironment(gatewayTls),
      ENGINE_ADDRESSES: node.address,
    });
    const plans = Array.from({ length: short ? 8 : 32 }, (_, at) =>
      distinctUtterance(at * 7, short ? 4 : 8),
    );
    const rate = async (service: ServiceProcess, pids: readonly number[]): Promise<number> => {
      const cpuMs = await serviceCpuMs({ fleet, load, service, pids }, plans, 'ours');
      return audioSeconds([plans]) / (cpuMs / 1000);
    };
    const ratios: number[] = [];
    for (let round = 0; round < (short ? 2 : 6); round += 1) {
      const far = await rate(remote, [remote.pid, node.pid, ...node.children()]);
      const near = await rate(local, [local.pid, ...local.children()]);
      // The first round warms both up.
      if (round > 0) ratios.push(far / near);
      log(`in nodes ${far.toFixed(0)}, in process ${near.toFixed(0)} audio s per CPU s`);
    }
    return Number(percentile(ratios, 0.5).toFixed(3));
  } finally {
    await node.stop();
  }
}
