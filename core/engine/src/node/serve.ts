import { loadManifests } from '../weights/load-manifests.ts';
import { POOL_NOTICES, startSherpaEngine } from '../pool/pool.ts';
import { startEngineNode } from './engine-node.ts';
import { parseEngineNodeConfig } from './node-config.ts';
import { startOtlpTracing } from '@svc-asr/runtime/otlp-tracing.ts';
import { createEngineNodeMetrics } from './node-metrics.ts';

function log(level: 'info' | 'error', message: string, fields: object = {}): void {
  const time = new Date().toISOString();
  process.stdout.write(`${JSON.stringify({ level, time, ...fields, msg: message })}\n`);
}

/** Starts the engine node that the environment describes. Resolves, when it serves, to what a signal calls. */
export async function serve(): Promise<(signal: NodeJS.Signals) => void> {
  const config = parseEngineNodeConfig(process.env);
  const manifests = await loadManifests(config.modelsDir);
  const languages = new Map([...manifests.values()].map(({ language, id }) => [language, id]));
  const engine = await startSherpaEngine({
    modelsDir: config.modelsDir,
    compute: config.compute,
    ...(config.children === null ? {} : { children: config.children }),
    ...(config.slotsPerChild === null ? {} : { slotsPerChild: config.slotsPerChild }),
    onNotice: (notice) => {
      const [level, message] = POOL_NOTICES[notice.notice];
      log(level, message, notice);
    },
  });
  const tracing =
    config.otlp === null
      ? null
      : await startOtlpTracing({
          ...config.otlp,
          serviceName: 'svc-engine',
          instance: config.listen,
        });
  let isStopping = false;
  const node = await startEngineNode({
    engine,
    address: config.listen,
    tls: config.tls,
    languages,
    tracing,
    onCall: (code) => metrics.ended(code),
  });
  const metrics = createEngineNodeMetrics(engine, {
    health: () => node.health(),
    isDraining: () => isStopping,
  });
  const { metricsPort } = config;
  const metricsServer = metricsPort === null ? null : await metrics.listen(metricsPort);
  for (const missed of node.missed) log('error', 'not listening on an address of the host', missed);
  log('info', 'listening', { port: node.port, tls: config.tls !== null });

  async function stop(signal: NodeJS.Signals): Promise<void> {
    // A second signal exits at once.
    if (isStopping) process.exit(1);
    isStopping = true;
    log('info', 'draining', { signal, calls: node.calls });
    await node.drain(config.drainMs);
    await engine.close();
    metricsServer?.close();
    await tracing?.close();
    log('info', 'stopped');
  }
  return (signal) => void stop(signal);
}
