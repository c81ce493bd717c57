import type { TlsFiles } from '@svc-asr/engine';
import { tlsEnvironment } from '@svc-asr/local/engine-node-process.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { cpuMsOf } from '../engine/processor.ts';
import { distinctUtterance } from '../engine/utterances.ts';
import type { Fleet } from '../service/fleet.ts';
import { openSessions } from '../service/sessions.ts';
import { startPacedClients } from './paced-clients.ts';
import type { ScriptedNodes } from './scripted-nodes.ts';

/** A stream with a longer lag is not live. */
const LAG_MS_MAX = 1_000;
/** A gateway refuses more than 256 concurrent upgrades. */
const GROUP = 100;
/** Streams are counted from here on: compilation and first calls are over. */
const WARM_UP_S = 3;

export interface GatewayInput {
  readonly fleet: Fleet;
  readonly nodes: ScriptedNodes;
  readonly gatewayTls: TlsFiles;
  /** Numbers of streams to try, in rising order. */
  readonly steps: readonly number[];
  readonly seconds: number;
  readonly log: (line: string) => void;
}

/** What a number of real-time streams costs, in us of CPU time per second of audio. */
interface Step {
  readonly streams: number;
  readonly isHeld: boolean;
  readonly lagMs: number;
  readonly gatewayUs: number;
  readonly nodeUs: number;
  readonly clientUs: number;
}

/** Measures the whole gateway, from the WebSocket to the node, with more and more streams until they are not live. */
export async function measureGateway(input: GatewayInput): Promise<Record<string, number>> {
  const { fleet, nodes, gatewayTls } = input;
  const service = await fleet.launch({
    ...tlsEnvironment(gatewayTls),
    ENGINE_ADDRESSES: nodes.addresses,
  });
  let held: Step | null = null;
  let last: Step | null = null;
  for (const streams of input.steps) {
    last = await tryStep(input, service, streams);
    if (!last.isHeld) break;
    held = last;
  }
  await service.stop();
  const shown = held ?? last;
  if (shown === null) throw new RangeError('No number of streams to try.');
  return {
    streams_per_gateway_core: Math.round(1e6 / shown.gatewayUs),
    live_streams: held?.streams ?? 0,
    live_lag_p95_ms: Math.round(shown.lagMs),
    live_gateway_us_per_audio_s: Math.round(shown.gatewayUs),
    live_node_us_per_audio_s: Math.round(shown.nodeUs),
    live_client_us_per_audio_s: Math.round(shown.clientUs),
  };
}

async function tryStep(
  { fleet, nodes, seconds, log }: GatewayInput,
  service: ServiceProcess,
  streams: number,
): Promise<Step> {
  const clients = await startPacedClients();
  try {
    for (let from = 0; from < streams; from += GROUP) {
      const size = Math.min(GROUP, streams - from);
      const plans = Array.from({ length: size }, () => distinctUtterance(0, 1));
      // Credentials expire after a minute.
      const sessions = await openSessions({ fleet, service }, plans);
      await clients.run({ do: 'open', url: service.streamUrl, sessions });
    }
    await clients.run({ do: 'speak', seconds: WARM_UP_S });
    const before = { gateway: cpuMsOf([service.pid]), nodes: cpuMsOf(nodes.pids) };
    const beganMs = performance.now();
    const { audioS, lagsMs, broken, cpuMs } = await clients.run({ do: 'speak', seconds });
    const wallMs = performance.now() - beganMs;
    const gatewayMs = cpuMsOf([service.pid]) - before.gateway;
    const nodeMs = cpuMsOf(nodes.pids) - before.nodes;
    await clients.run({ do: 'close' });
    const lagMs = percentile(lagsMs, 0.95);
    const isHeld = broken === 0 && lagsMs.length > 0 && lagMs <= LAG_MS_MAX;
    const cores = (ms: number): string => (ms / wallMs).toFixed(2);
    log(
      `${streams} streams: ${broken} broke, lag p95 ${lagMs.toFixed(0)} ms; cores: gateway ` +
        `${cores(gatewayMs)}, nodes ${cores(nodeMs)}, clients ${cores(cpuMs)}`,
    );
    const us = (ms: number): number => (ms * 1000) / audioS;
    return {
      streams,
      isHeld,
      lagMs,
      gatewayUs: us(gatewayMs),
      nodeUs: us(nodeMs),
      clientUs: us(cpuMs),
    };
  } finally {
    await clients.stop();
  }
}
