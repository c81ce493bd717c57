import { startOtlpTracing } from '@svc-asr/runtime/otlp-tracing.ts';
import type { Tracing } from '@svc-asr/runtime/tracing.ts';
import type { FastifyInstance } from 'fastify';
import { systemClock, type Clock } from './platform/clock.ts';
import type { Config, Role } from './config.ts';
import { consolePlugin } from './console/plugin.ts';
import { createCredentials } from './sessions/credentials.ts';
import { createPool, type DatabaseRole, type Pool } from './platform/database/db.ts';
import type { Deps } from './deps.ts';
import { FailedSessionsAlert } from './accounts/logs/failed-sessions-alert.ts';
import { buildApp } from './http/app.ts';
import { apiState } from './http/status.ts';
import { reportPeppers } from './accounts/cell.ts';
import { createAuthenticator } from './accounts/keys/authenticator.ts';
import { startCallLog } from './accounts/logs/call-log.ts';
import { ApiKeyInvalidation } from './accounts/keys/invalidation.ts';
import { HistoryGuard } from './ledger/history-guard.ts';
import { createLedger } from './ledger/ledger.ts';
import { createLog } from './platform/observe/log.ts';
import { createMetrics } from './platform/observe/metrics.ts';
import { NodeRoster } from './sessions/placement.ts';
import {
  createRateLimiter,
  createSharedRateLimiter,
  type RateLimiter,
} from './platform/network/rate-limit.ts';
import { connectRedisCounts, type RedisCounts } from './platform/network/redis-counts.ts';
import { startStreaming, type StreamingParts } from './gateway/streaming-node.ts';
import { probe } from './nodes/status/probe.ts';
import { startStatusRecorder } from './nodes/status/recorder.ts';
import { startSweeper } from './nodes/sweeper.ts';
import { observeDatabase } from './platform/database/metrics.ts';
import { expiresAtMs, readCertificate, watchCertificate } from './platform/network/tls.ts';

const DATABASE_ROLES = {
  all: 'svc_all',
  api: 'svc_api',
  node: 'svc_node',
} as const satisfies Record<Role, DatabaseRole>;

export interface RunningServer {
  /** The URL it listens on, such as http://127.0.0.1:8080. */
  readonly url: string;
  readonly deps: Deps;
  /** Refuses new work, waits this long for streams to finish, completes open requests and closes everything. */
  stop(options?: { drainMs?: number }): Promise<void>;
}

/** Replacements for parts of the server, for tests and the emulator. */
export type Parts = Partial<Deps> & StreamingParts;

/** Starts one process of the service. Resolves when the process serves requests. */
export async function startServer(config: Config, parts: Parts = {}): Promise<RunningServer> {
  const log = parts.log ?? createLog({ level: config.logLevel });
  const roster = new NodeRoster(log);
  const clock = parts.clock ?? systemClock;
  const invalidation = new ApiKeyInvalidation(clock, log);
  const counts =
    config.limits.redisUrl === null
      ? null
      : await connectRedisCounts({ url: config.limits.redisUrl, clock, log });
  const limiters = createLimiters(config.limits.rates, { clock, counts });
  const tracing = parts.tracing ?? (await startTracing(config));
  const made = { placement: roster, limiters, ...parts, log, tracing };
  const deps = assemble(config, invalidation, made);
  if (counts !== null) deps.metrics.observeSharedLimits(counts);
  deps.metrics.observeDraining(() => deps.lifecycle.draining);
  observeDatabase(deps.metrics.registry, deps.db);
  let certificate = await readCertificate(config.tls);
  const app = buildApp(deps, certificate);
  // The server listens before it is ready. Until then a load balancer must not send requests here.
  let isServing = false;
  deps.lifecycle.checks.push(() => isServing);
  // Streaming nodes serve only streams, not the console.
  if (config.role !== 'node') await app.register(consolePlugin, deps);
  await app.listen({ host: config.host, port: config.port, backlog: 1_024 });
  const endings: (() => Promise<void>)[] = [
    watchCertificate(app.server, {
      files: config.tls,
      loaded: certificate,
      log,
      onLoaded: (renewed) => (certificate = renewed),
    }),
    await deps.history.watch(deps.db),
    async () => counts?.close(),
    () => deps.calls.stop(),
  ];
  deps.lifecycle.checks.push(() => !deps.history.isRolledBack);
  deps.metrics.observeLedgerHistory(() => deps.history.isRolledBack);
  if (certificate !== null) {
    deps.metrics.observeCertificate(() => (certificate === null ? 0 : expiresAtMs(certificate)));
  }
  const streaming =
    config.role === 'api' ? null : await startStreaming(deps, { server: app.server, parts });
  if (config.role !== 'node') {
    await reportPeppers(deps.db, config.secrets.apiKeyPeppers);
    const alert = new FailedSessionsAlert({ threshold: config.limits.failedSessionsPerHour, log });
    deps.metrics.observeFailing(() => alert.count);
    endings.push(await listNodes(roster, deps), await alert.watch(deps.db));
    endings.push(sweep(deps), receiveInvalidations(invalidation, deps));
  }
  isServing = true;
  if (config.role !== 'node') {
    const recorder = startStatusRecorder({
      db: deps.db,
      check: () => probe(deps.db, apiState(deps)),
      isDraining: () => deps.lifecycle.draining,
      log,
    });
    endings.push(() => recorder.stop());
  }
  return {
    url: urlOf(app, config),
    deps,
    async stop(options = {}) {
      const drainMs = streaming === null ? 0 : (options.drainMs ?? config.drainMs);
      deps.lifecycle.draining = true;
      deps.lifecycle.drainDeadlineAtMs = deps.clock.monotonicMs() + drainMs;
      await streaming?.stop(drainMs);
      await app.close();
      for (const end of endings) await end();
      await deps.authenticator.close();
      await deps.db.end();
      await tracing?.close();
    },
  };
}

/** Uses a separate connection, because requests that wait for the pool would keep lost nodes on the list. */
async function listNodes(
  roster: NodeRoster,
  { config, history }: Deps,
): Promise<() => Promise<void>> {
  const db = createPool({
    url: config.database.url,
    role: DATABASE_ROLES[config.role],
    applicationName: `svc-asr nodes ${config.nodeId}`,
    maxConnections: 1,
    connectTimeoutMs: 1_000,
    statementTimeoutMs: 1_000,
    verify: history.verify,
  });
  const stop = await roster.watch(db);
  return async () => {
    await stop();
    await db.end();
  };
}

/** The sweeper has its own database role and connection. */
function sweep({ config, log, history, metrics }: Deps): () => Promise<void> {
  const db = createPool({
    url: config.database.sweeperUrl,
    role: 'svc_sweeper',
    applicationName: `svc-asr sweeper ${config.nodeId}`,
    maxConnections: 1,
    connectTimeoutMs: 1_000,
    verify: history.verify,
  });
  const ledger = history.guard(createLedger(db));
  const sweeper = startSweeper({ ledger, log, registry: metrics.registry });
  return async () => {
    await sweeper.stop();
    await db.end();
  };
}

/** Uses a separate connection, because a listener would occupy one of the pool permanently. */
function receiveInvalidations(
  invalidation: ApiKeyInvalidation,
  { config, metrics }: Deps,
): () => Promise<void> {
  metrics.observeApiKeyInvalidation(() => invalidation.isReceiving);
  return invalidation.listen({
    url: config.database.url,
    role: DATABASE_ROLES[config.role],
    applicationName: `svc-asr keys ${config.nodeId}`,
    connectTimeoutMs: 1_000,
    statementTimeoutMs: 1_000,
  });
}

async function startTracing({ otlp, role, nodeId }: Config): Promise<Tracing | null> {
  if (otlp === null) return null;
  return startOtlpTracing({ ...otlp, serviceName: `svc-asr-${role}`, instance: nodeId });
}

function assemble(
  config: Config,
  invalidation: ApiKeyInvalidation,
  parts: Partial<Deps> & Pick<Deps, 'log' | 'placement' | 'limiters'>,
): Deps {
  const clock = parts.clock ?? systemClock;
  const { log } = parts;
  const history = parts.history ?? new HistoryGuard({ nodeId: config.nodeId, log });
  const db = parts.db ?? openDatabase(config, { log, history });
  const metrics = parts.metrics ?? createMetrics();
  return {
    config,
    clock,
    db,
    history,
    ledger: history.guard(createLedger(db)),
    authenticator: createAuthenticator({
      db,
      peppers: config.secrets.apiKeyPeppers,
      clock,
      log,
      invalidation,
    }),
    credentials: createCredentials(config.secrets.signingKeys),
    metrics,
    calls: parts.calls ?? startCallLog({ db, clock, registry: metrics.registry, log }),
    tracing: null,
    lifecycle: { draining: false, drainDeadlineAtMs: null, checks: [], warnings: [] },
    ...parts,
  };
}

/** Shares the limits against guessing, spam and overload. Reads are cheap, so each process limits them on its own. */
function createLimiters(
  rates: Config['limits']['rates'],
  { clock, counts }: { clock: Clock; counts: RedisCounts | null },
): Deps['limiters'] {
  const shared = (name: keyof Config['limits']['rates']): RateLimiter =>
    counts === null
      ? createRateLimiter(rates[name], clock)
      : createSharedRateLimiter(rates[name], { name, counts, clock });
  return {
    sessions: shared('sessions'),
    usage: createRateLimiter(rates.usage, clock),
    models: createRateLimiter(rates.models, clock),
    failedAuthentication: shared('failedAuthentication'),
    failedUpgrades: shared('failedUpgrades'),
    consoleForms: shared('consoleForms'),
  };
}

/** Uses the least-privileged role for its job. Our statements take milliseconds, so a slower one has hit a fault. */
function openDatabase(config: Config, deps: Pick<Deps, 'log' | 'history'>): Pool {
  return createPool({
    url: config.database.url,
    role: DATABASE_ROLES[config.role],
    applicationName: `svc-asr ${config.nodeId}`,
    maxConnections: config.database.poolSize,
    connectTimeoutMs: 1_000,
    statementTimeoutMs: 1_000,
    verify: deps.history.verify,
    onError: (error) => deps.log.warn({ err: error }, 'A database connection broke.'),
  });
}

function urlOf(app: FastifyInstance, { host, tls }: Config): string {
  const address = app.server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
