import type { FastifyInstance } from 'fastify';
import { systemClock } from './clock.ts';
import type { Config, Role } from './config.ts';
import { consolePlugin } from './console/plugin.ts';
import { createCredentials } from './credentials.ts';
import { createPool, type DatabaseRole, type Pool } from './db.ts';
import type { Deps } from './deps.ts';
import { FailingAccounts } from './failing-accounts.ts';
import { buildApp } from './http/app.ts';
import { createAuthenticator } from './http/authenticator.ts';
import { KeyNews } from './http/key-news.ts';
import { createLedger } from './ledger/ledger.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import { NodeRoster } from './placement.ts';
import { createRateLimiter } from './rate-limit.ts';
import { startStreaming, type StreamingParts } from './streaming.ts';
import { startSweeper } from './sweeper.ts';
import { readCertificate, watchCertificate } from './tls.ts';

const DATABASE_ROLES = {
  all: 'svc_all',
  api: 'svc_api',
  node: 'svc_node',
} as const satisfies Record<Role, DatabaseRole>;

export interface RunningServer {
  /** Where it listens, such as http://127.0.0.1:8080. */
  readonly url: string;
  readonly deps: Deps;
  /** Takes no new work, lets streams finish for so long, answers what it has, closes everything. */
  stop(options?: { drainMs?: number }): Promise<void>;
}

/** What tests and other composers put in place of the usual. */
export type Parts = Partial<Deps> & StreamingParts;

/** Brings up one process of the service. When it resolves, the process serves. */
export async function startServer(config: Config, parts: Parts = {}): Promise<RunningServer> {
  const log = parts.log ?? createLog({ level: config.logLevel });
  const roster = new NodeRoster(log);
  const news = new KeyNews(parts.clock ?? systemClock, log);
  const failing = new FailingAccounts({
    limit: config.failedSessionsPerHour,
    clock: parts.clock ?? systemClock,
    log,
  });
  const deps = assemble(config, news, { placement: roster, failing, ...parts, log });
  const app = buildApp(deps, await readCertificate(config.tls));
  // It listens before it serves: until then a balancer must not send anybody here.
  let isServing = false;
  deps.lifecycle.checks.push(() => isServing);
  // Streaming nodes face clients alone: people's pages are not theirs to serve.
  if (config.role !== 'node') await app.register(consolePlugin, deps);
  await app.listen({ host: config.host, port: config.port, backlog: 1_024 });
  const endings: (() => Promise<void>)[] = [watchCertificate(app.server, deps)];
  const streaming =
    config.role === 'api' ? null : await startStreaming(deps, { server: app.server, parts });
  if (config.role !== 'node') {
    deps.metrics.observeFailing(() => failing.count);
    endings.push(await roster.watch(deps.db), await failing.watch(deps.db));
    endings.push(sweep(deps), hearOfKeys(news, deps));
  }
  isServing = true;
  return {
    url: urlOf(app, config),
    deps,
    async stop(options = {}) {
      deps.lifecycle.draining = true;
      await streaming?.stop(options.drainMs ?? config.drainMs);
      await app.close();
      for (const end of endings) await end();
      await deps.authenticator.close();
      await deps.db.end();
    },
  };
}

/** The sweeper has rights and a connection of its own. */
function sweep({ config, log }: Deps): () => Promise<void> {
  const db = createPool({
    url: config.databaseUrl,
    role: 'svc_sweeper',
    applicationName: `svc-asr sweeper ${config.nodeId}`,
    maxConnections: 1,
    connectTimeoutMs: 1_000,
  });
  const sweeper = startSweeper({ ledger: createLedger(db), log });
  return async () => {
    await sweeper.stop();
    await db.end();
  };
}

/** On a connection of its own: one of the pool would have to stay out of it for good. */
function hearOfKeys(news: KeyNews, { config, metrics }: Deps): () => Promise<void> {
  metrics.observeKeyNews(() => news.isHearing);
  return news.listen({
    url: config.databaseUrl,
    role: DATABASE_ROLES[config.role],
    applicationName: `svc-asr keys ${config.nodeId}`,
    connectTimeoutMs: 1_000,
    statementTimeoutMs: 1_000,
  });
}

function assemble(
  config: Config,
  news: KeyNews,
  parts: Partial<Deps> & Pick<Deps, 'log' | 'placement' | 'failing'>,
): Deps {
  const clock = parts.clock ?? systemClock;
  const { log } = parts;
  const db = parts.db ?? openDatabase(config, log);
  return {
    config,
    clock,
    db,
    ledger: createLedger(db),
    authenticator: createAuthenticator({ db, pepper: config.apiKeyPepper, clock, log, news }),
    credentials: createCredentials(config.signingKeys),
    metrics: createMetrics(),
    lifecycle: { draining: false, checks: [] },
    limiters: {
      sessions: createRateLimiter(config.rates.sessions, clock),
      usage: createRateLimiter(config.rates.usage, clock),
      models: createRateLimiter(config.rates.models, clock),
      failedAuthentication: createRateLimiter(config.rates.failedAuthentication, clock),
      upgrades: createRateLimiter(config.rates.upgrades, clock),
      consoleForms: createRateLimiter(config.rates.consoleForms, clock),
    },
    ...parts,
  };
}

/** With the rights of its job and no more. A statement of ours takes milliseconds: one that does not has met a fault. */
function openDatabase(config: Config, log: Log): Pool {
  return createPool({
    url: config.databaseUrl,
    role: DATABASE_ROLES[config.role],
    applicationName: `svc-asr ${config.nodeId}`,
    maxConnections: config.databasePoolSize,
    connectTimeoutMs: 1_000,
    statementTimeoutMs: 1_000,
    onError: (error) => log.warn({ err: error }, 'A database connection broke.'),
  });
}

function urlOf(app: FastifyInstance, { host, tls }: Config): string {
  const address = app.server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
