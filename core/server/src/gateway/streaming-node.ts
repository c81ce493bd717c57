import type { Server } from 'node:http';
import type { Engine, VoiceConfirmer } from '@svc-asr/engine/core.ts';
import { MODEL_IDS, STREAM_PATH } from '@svc-asr/protocol';
import { listSuspended } from '../accounts/accounts.ts';
import { listTakeovers } from '../sessions/lost-sessions.ts';
import { listEndRequested } from '../sessions/end-requests.ts';
import type { ConnectionLimits } from './connection/connection.ts';
import { Gateway, type GatewayDeps } from './gateway.ts';
import { startLiveAudioReports } from '../nodes/live-audio.ts';
import type { StartLeaseThread } from '../nodes/lease-renewals.ts';
import { NodeLease } from '../nodes/node-lease.ts';
import { startSessionDetails } from '../nodes/session-details.ts';

/** The parts of a streaming node: an engine, a lease and the gateway. */
export interface Streaming {
  /** Refuses new streams, lets open ones finish for that long, then ends the rest. */
  stop(drainMs: number): Promise<void>;
}

export interface StreamingParts {
  readonly engine?: Engine;
  /** Default: Silero, or none together with an engine of your own. */
  readonly confirmer?: VoiceConfirmer;
  readonly streamLimits?: Partial<ConnectionLimits>;
  readonly startLeaseThread?: StartLeaseThread;
}

export type StreamingDeps = Omit<
  GatewayDeps,
  'engine' | 'confirmer' | 'node' | 'streamLimits' | 'details'
>;

export async function startStreaming(
  deps: StreamingDeps,
  input: { server: Server; parts: StreamingParts },
): Promise<Streaming> {
  const { config, log, db, lifecycle } = deps;
  const engine = input.parts.engine ?? (await startRecognisers(deps));
  const confirmer =
    input.parts.confirmer ?? (input.parts.engine === undefined ? await loadConfirmer() : null);
  let gateway: Gateway | null = null;
  const node = await NodeLease.register({
    db,
    // A connection of its own, so that a busy pool can't lose the lease.
    database: {
      url: config.database.url,
      role: 'svc_node',
      applicationName: `svc-asr lease ${config.nodeId}`,
    },
    log,
    id: config.nodeId,
    publicUrl: streamUrl(config.publicStreamUrl),
    models: MODEL_IDS,
    load: () => engine.health(),
    startThread: input.parts.startLeaseThread,
    onRenewed: async () => {
      if (gateway === null) return;
      const { streams } = gateway;
      streams.suspend(await listSuspended(db, [...streams.accountIds()]));
      const sessionIds = [...streams.acceptedAudio().keys()];
      streams.endSessions(await listEndRequested(db, sessionIds));
      streams.giveUp(await listTakeovers(db, sessionIds));
    },
  });
  const details = startSessionDetails({
    db,
    nodeId: config.nodeId,
    registry: deps.metrics.registry,
    log,
  });
  const attached = new Gateway({ ...deps, ...input.parts, engine, confirmer, node, details });
  gateway = attached.attach(input.server);
  const stopReports = startLiveAudioReports({
    db: deps.db,
    node,
    read: () => attached.streams.acceptedAudio(),
    log,
  });
  lifecycle.checks.push(() => node.isHeld && engine.health().ready);
  return {
    async stop(drainMs) {
      await node.drain();
      await attached.drain(drainMs);
      await stopReports();
      await details.stop();
      await node.retire();
      if (input.parts.engine === undefined) await engine.close();
    },
  };
}

/** The path is optional in the setting, because there is only one. */
function streamUrl(publicUrl: string): string {
  const url = new URL(publicUrl);
  if (url.pathname === '/') url.pathname = STREAM_PATH;
  return url.href;
}

/** Loads the recognisers' native packages only where they run. The emulator's package doesn't have them. */
async function startRecognisers(deps: StreamingDeps): Promise<Engine> {
  const { startEngine } = await import('./start-engine.ts');
  return startEngine(deps);
}

async function loadConfirmer(): Promise<VoiceConfirmer> {
  const { SileroConfirmer } = await import('@svc-asr/engine/silero-confirmer.ts');
  return SileroConfirmer.load();
}
