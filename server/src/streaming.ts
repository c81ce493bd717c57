import type { Server } from 'node:http';
import { startSherpaEngine, type Engine } from '@svc-asr/engine';
import { MODEL_IDS, STREAM_PATH } from '@svc-asr/protocol';
import { listSuspended } from './accounts/accounts.ts';
import type { Config } from './config.ts';
import { createPool } from './db.ts';
import type { Deps } from './deps.ts';
import type { ConnectionLimits } from './gateway/connection.ts';
import { Gateway } from './gateway/gateway.ts';
import type { Log } from './log.ts';
import { NodeLife } from './node-life.ts';

/** What makes a process a streaming node: an engine, a lease and the gateway. */
export interface Streaming {
  /** Takes nothing new, lets streams finish for that long, then ends the rest. */
  stop(drainMs: number): Promise<void>;
}

export interface StreamingParts {
  readonly engine?: Engine;
  readonly streamLimits?: Partial<ConnectionLimits>;
}

export async function startStreaming(
  deps: Deps,
  input: { server: Server; parts: StreamingParts },
): Promise<Streaming> {
  const { config, log, clock, lifecycle } = deps;
  const engine = input.parts.engine ?? (await startEngine(config, log));
  // A lease has a connection of its own and little patience: a busy pool must not cost it.
  const leaseDb = createPool({
    url: config.databaseUrl,
    role: 'svc_node',
    applicationName: `svc-asr lease ${config.nodeId}`,
    maxConnections: 1,
    connectTimeoutMs: 1_000,
    statementTimeoutMs: 1_000,
  });
  const node = await NodeLife.begin({
    db: leaseDb,
    clock,
    log,
    id: config.nodeId,
    publicUrl: streamUrl(config.publicStreamUrl),
    models: MODEL_IDS,
    load: () => engine.health(),
    onRenewed: async () => gateway.suspend(await listSuspended(leaseDb, [...gateway.accounts()])),
  });
  const gateway = new Gateway({ ...deps, ...input.parts, engine, node }).attach(input.server);
  lifecycle.checks.push(() => node.isHeld && engine.health().ready);
  return {
    async stop(drainMs) {
      await node.drain();
      await gateway.drain(drainMs);
      await node.retire();
      await leaseDb.end();
      if (input.parts.engine === undefined) await engine.close();
    },
  };
}

function startEngine(config: Config, log: Log): Promise<Engine> {
  const { modelsDir, engineChildren, engineSlotsPerChild } = config;
  return startSherpaEngine({
    modelsDir,
    ...(engineChildren === null ? {} : { children: engineChildren }),
    ...(engineSlotsPerChild === null ? {} : { slotsPerChild: engineSlotsPerChild }),
    onNotice: (notice) =>
      notice.notice === 'child_gone'
        ? log.error(notice, 'A recogniser died; its streams were told, another takes its place.')
        : log.info(notice, 'A recogniser is ready.'),
  });
}

/** An operator may leave the path away: there is only one. */
function streamUrl(publicUrl: string): string {
  const url = new URL(publicUrl);
  if (url.pathname === '/') url.pathname = STREAM_PATH;
  return url.href;
}
