import type { RivaEngine } from '@svc-asr/engine';
import { withReplay, type Engine, type ReplayEngine } from '@svc-asr/engine/core.ts';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { GatewayDeps } from './gateway.ts';

type EngineDeps = Pick<GatewayDeps, 'config' | 'log' | 'metrics'>;

/**
 * Starts the recognisers of this node. Unless replay is off, a stream continues on another one when its own is lost. Loads
 * only the client that this node needs: ONNX Runtime belongs to the child processes, and gRPC to gateways of engine nodes.
 */
export async function startEngine(deps: EngineDeps): Promise<Engine> {
  const { addresses, replayMb } = deps.config.engine;
  const engine =
    addresses === null ? await startLocalEngine(deps) : await startRemoteEngine(deps, addresses);
  if (replayMb === 0) return engine;
  const replaying = withReplay(engine, { megabytes: replayMb });
  observeReplays(deps.metrics.registry, replaying);
  return replaying;
}

async function startLocalEngine({ config, log, metrics }: EngineDeps): Promise<Engine> {
  const { modelsDir, children, slotsPerChild, threadsPerChild, device, user } = config.engine;
  const { POOL_NOTICES, startSherpaEngine } = await import('@svc-asr/engine/pool.ts');
  const { observeRecognisers } = await import('@svc-asr/engine/recogniser-metrics.ts');
  const engine = await startSherpaEngine({
    modelsDir,
    compute: { threads: threadsPerChild, device },
    ...(children === null ? {} : { children }),
    ...(slotsPerChild === null ? {} : { slotsPerChild }),
    ...(user === null ? {} : { user }),
    onNotice: (notice) => {
      const [level, message] = POOL_NOTICES[notice.notice];
      log[level](notice, message);
    },
  });
  observeRecognisers(metrics.registry, engine);
  return engine;
}

/** Connects to svc-engine nodes, or to Riva and NIM servers, which know our models only by language. */
async function startRemoteEngine(
  { config, log, metrics }: EngineDeps,
  addresses: string,
): Promise<Engine> {
  const { tls, rivaCapacity: capacityPerServer } = config.engine;
  const { RIVA_MODELS, startRivaEngine } = await import('@svc-asr/engine/riva.ts');
  const engine = await startRivaEngine({
    addresses,
    tls,
    ...(capacityPerServer === null ? {} : { capacityPerServer, models: RIVA_MODELS }),
    onNotice: (notice) =>
      notice.notice === 'node_lost'
        ? log.error(notice, 'An engine node was lost. Its streams continue on another one.')
        : log.info(notice, 'An engine node changed its state.'),
  });
  observeNodes(metrics.registry, engine);
  return engine;
}

function observeNodes(registry: Registry, engine: RivaEngine): void {
  const nodes = new Gauge({
    name: 'svc_engine_nodes',
    help: 'Engine nodes that this process knows, by state. Only with ENGINE_ADDRESSES.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      nodes.reset();
      for (const { state } of engine.nodes()) nodes.inc({ state });
    },
  });
}

/** Counters are read from the engine at each scrape. */
function observeReplays(registry: Registry, engine: ReplayEngine): void {
  const registers = [registry];
  const lost = new Counter({
    name: 'svc_engine_streams_lost_total',
    help: 'Streams whose recogniser was lost, by outcome: replayed, or why they failed.',
    labelNames: ['outcome'],
    registers,
    collect() {
      const { replayed, failed } = engine.replays();
      lost.reset();
      lost.inc({ outcome: 'replayed' }, replayed);
      for (const [outcome, count] of Object.entries(failed)) lost.inc({ outcome }, count);
    },
  });
  const bytes: Gauge = new Gauge({
    name: 'svc_engine_replay_bytes',
    help: 'Memory that un-finalised audio takes, kept in case its recogniser is lost.',
    registers,
    collect: () => bytes.set(engine.replays().bytes),
  });
  const recovering: Gauge = new Gauge({
    name: 'svc_engine_replay_recovering',
    help: 'Streams that lost their recogniser and have not caught up on another one yet.',
    registers,
    collect: () => recovering.set(engine.replays().recovering),
  });
}
