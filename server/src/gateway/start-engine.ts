import {
  observeRecognisers,
  RIVA_MODELS,
  startRivaEngine,
  POOL_NOTICES,
  startSherpaEngine,
  withReplay,
  type Engine,
  type ReplayEngine,
  type RivaEngine,
} from '@svc-asr/engine';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { GatewayDeps } from './gateway.ts';

type EngineDeps = Pick<GatewayDeps, 'config' | 'log' | 'metrics'>;

/** Starts the recognisers of this node. Unless replay is off, a stream continues on another one when its own is lost. */
export async function startEngine(deps: EngineDeps): Promise<Engine> {
  const { config, metrics } = deps;
  const { engineAddresses } = config;
  const engine =
    engineAddresses === null
      ? await startLocalEngine(deps)
      : await startRemoteEngine(deps, engineAddresses);
  if (config.engineReplayMb === 0) return engine;
  const replaying = withReplay(engine, { megabytes: config.engineReplayMb });
  observeReplays(metrics.registry, replaying);
  return replaying;
}

async function startLocalEngine({ config, log, metrics }: EngineDeps): Promise<Engine> {
  const { modelsDir, engineChildren, engineSlotsPerChild, engineUser } = config;
  const compute = { threads: config.engineThreadsPerChild, device: config.engineDevice };
  const engine = await startSherpaEngine({
    modelsDir,
    compute,
    ...(engineChildren === null ? {} : { children: engineChildren }),
    ...(engineSlotsPerChild === null ? {} : { slotsPerChild: engineSlotsPerChild }),
    ...(engineUser === null ? {} : { user: engineUser }),
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
  const { engineTls: tls, engineRivaCapacity: capacityPerServer } = config;
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
