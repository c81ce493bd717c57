import { createServer } from 'node:http';
import { withReplay, type ReplayEngine } from '@svc-asr/engine/core.ts';
import { guardHttpServer } from '@svc-asr/runtime/server-guard.ts';
import { startCallLog } from '@svc-asr/server/accounts/logs/call-log.ts';
import { startStreaming, type Streaming } from '@svc-asr/server/gateway/streaming-node.ts';
import { HistoryGuard } from '@svc-asr/server/ledger/history-guard.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { systemClock } from '@svc-asr/server/platform/clock.ts';
import { createRateLimiter } from '@svc-asr/server/platform/network/rate-limit.ts';
import { createCredentials } from '@svc-asr/server/sessions/credentials.ts';
import { Registry } from 'prom-client';
import { startIn, VirtualProcess } from '../virtual/process.ts';
import { simulateLeaseThread } from './lease-thread.ts';
import { createModelConfirmer } from './model-confirmer.ts';
import { createModelEngine, type ModelEngine } from './model-engine.ts';
import { settingsOf } from './settings.ts';
import type { Surroundings } from './surroundings.ts';

export interface NodePlan {
  readonly id: string;
  readonly rate: number;
  readonly recognisers: number;
  readonly slots: number;
  readonly decodeMs: readonly [number, number];
}

/** A streaming process: the real gateway, lease, settlements and replay, on a virtual network. */
export interface StreamingServer {
  readonly process: VirtualProcess;
  readonly engine: ModelEngine;
  readonly replay: ReplayEngine;
  readonly registry: Registry;
  readonly history: HistoryGuard;
  endLeaseThread(): void;
  /** Resolves when everything has stopped. */
  stop(drainMs: number): Promise<void>;
}

export function startStreamingServer(
  plan: NodePlan,
  around: Surroundings,
): { readonly process: VirtualProcess; readonly started: Promise<StreamingServer> } {
  const process = new VirtualProcess(plan.id, { rate: plan.rate });
  return { process, started: startIn(process, () => start(process, plan, around)) };
}

async function start(
  process: VirtualProcess,
  plan: NodePlan,
  around: Surroundings,
): Promise<StreamingServer> {
  const { log, network } = around;
  const config = settingsOf(plan.id);
  const engine = createModelEngine({
    ...plan,
    openMs: [1, 40],
    random: around.randomOf(`engine ${plan.id}`),
  });
  const replay = withReplay(engine);
  const confirmer = createModelConfirmer(around.randomOf(`confirmer ${plan.id}`));
  const history = new HistoryGuard({ nodeId: plan.id, log });
  const db = around.openPool(process, { name: 'main', connections: 10, verify: history.verify });
  const clock = systemClock;
  const lifecycle = { draining: false, drainDeadlineAtMs: null, checks: [], warnings: [] };
  const limiter = createRateLimiter(config.limits.rates.failedUpgrades, clock);
  const registry = new Registry();
  const calls = startCallLog({ db, clock, registry, log });
  let endLeaseThread: (() => void) | null = null;
  const server = createServer();
  guardHttpServer(server);
  const stopHistory = await history.watch(db);
  const streaming = await untilStarted(() =>
    startStreaming(
      {
        config,
        db,
        log,
        clock,
        ledger: history.guard(createLedger(db)),
        credentials: createCredentials(config.secrets.signingKeys),
        metrics: { registry },
        calls,
        lifecycle,
        limiters: {
          sessions: limiter,
          usage: limiter,
          models: limiter,
          failedAuthentication: limiter,
          failedUpgrades: limiter,
          consoleForms: limiter,
        },
        tracing: null,
      },
      {
        server,
        parts: {
          engine: replay,
          confirmer,
          startLeaseThread: simulateLeaseThread({
            owner: process,
            log,
            onStarted: (end) => (endLeaseThread = end),
            openPool: (thread) => around.openPool(thread, { name: 'lease', connections: 1 }),
          }),
        },
      },
    ),
  );
  network.listen(plan.id, { owner: process, server });
  return {
    process,
    engine,
    replay,
    registry,
    history,
    endLeaseThread: () => endLeaseThread?.(),
    async stop(drainMs) {
      Object.assign(lifecycle, {
        draining: true,
        drainDeadlineAtMs: clock.monotonicMs() + drainMs,
      });
      await startIn(process, async () => {
        await streaming.stop(drainMs);
        network.close(plan.id);
        server.closeAllConnections();
        await stopHistory();
        await calls.stop();
        await db.end();
      });
    },
  };
}

/** A process that can't reach the database exits, and its supervisor starts it again. */
async function untilStarted(start: () => Promise<Streaming>): Promise<Streaming> {
  for (;;) {
    try {
      return await start();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}
