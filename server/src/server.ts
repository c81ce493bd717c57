import type { FastifyInstance } from 'fastify';
import { systemClock } from './clock.ts';
import type { Config, Role } from './config.ts';
import { createCredentials } from './credentials.ts';
import { createPool, type DatabaseRole, type Pool } from './db.ts';
import type { Deps } from './deps.ts';
import { buildApp } from './http/app.ts';
import { createAuthenticator } from './http/authenticator.ts';
import { createLedger } from './ledger/ledger.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import { createRateLimiter } from './rate-limit.ts';

const DATABASE_ROLES = {
  all: 'svc_all',
  api: 'svc_api',
  node: 'svc_node',
} as const satisfies Record<Role, DatabaseRole>;

export interface RunningServer {
  /** Where it listens, such as http://127.0.0.1:8080. */
  readonly url: string;
  readonly deps: Deps;
  /** Takes no new work, answers what it has, closes everything. */
  stop(): Promise<void>;
}

/** Brings up one process of the service. `parts` are what tests and other composers put in place of the usual. */
export async function startServer(
  config: Config,
  parts: Partial<Deps> = {},
): Promise<RunningServer> {
  const deps = assemble(config, parts);
  const app = buildApp(deps);
  await app.listen({ host: config.host, port: config.port, backlog: 1_024 });
  return {
    url: urlOf(app, config.host),
    deps,
    async stop() {
      deps.lifecycle.draining = true;
      await app.close();
      await deps.authenticator.close();
      await deps.db.end();
    },
  };
}

function assemble(config: Config, parts: Partial<Deps>): Deps {
  const clock = parts.clock ?? systemClock;
  const log = parts.log ?? createLog({ level: config.logLevel });
  const db = parts.db ?? openDatabase(config, log);
  return {
    config,
    log,
    clock,
    db,
    ledger: createLedger(db),
    authenticator: createAuthenticator({ db, pepper: config.apiKeyPepper, clock, log }),
    credentials: createCredentials(config.signingKeys),
    placement: { choose: () => ({ id: config.nodeId, url: config.publicStreamUrl }) },
    metrics: createMetrics(),
    lifecycle: { draining: false },
    limiters: {
      sessions: createRateLimiter(config.rates.sessions, clock),
      usage: createRateLimiter(config.rates.usage, clock),
      models: createRateLimiter(config.rates.models, clock),
      failedAuthentication: createRateLimiter(config.rates.failedAuthentication, clock),
      upgrades: createRateLimiter(config.rates.upgrades, clock),
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

function urlOf(app: FastifyInstance, host: string): string {
  const address = app.server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
