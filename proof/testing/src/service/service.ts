import { randomUUID } from 'node:crypto';
import { createScriptedEngine, type ScriptedEngine, type ScriptedOptions } from '@svc-asr/engine';
import {
  STREAM_PATH,
  type AsrSession,
  type CreditBalance,
  type ErrorBody,
  type ModelList,
} from '@svc-asr/protocol';
import type { ApiKeyRecord } from '@svc-asr/server/accounts/keys/api-keys.ts';
import { generateSecrets, parseConfig, type Config } from '@svc-asr/server/config.ts';
import type { Deps } from '@svc-asr/server/deps.ts';
import { createLog } from '@svc-asr/server/platform/observe/log.ts';
import { startServer, type Parts, type RunningServer } from '@svc-asr/server/server.ts';
import { checkAnswer } from './check-response.ts';
import { createTestDatabase, type TestDatabase } from '../postgres/test-database.ts';
import { createFundedAccount, createKey, type Tenant } from '@svc-asr/local/account-with-key.ts';

export type { Tenant };
export const KIKUYU = 'svc-asr-kikuyu-v1';
export const DHOLUO = 'svc-asr-dholuo-v1';

export interface ServiceOptions {
  /** Credit of the first account. */
  readonly creditMs?: number;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly parts?: Parts;
  /** Results and failures of the scripted engine. */
  readonly script?: ScriptedOptions['script'];
  readonly capacity?: number;
  /** The engine is not ready until it resolves. */
  readonly engineStarted?: Promise<void>;
  /** Another process on the same database; it is then not dropped with this service. */
  readonly database?: TestDatabase;
  /** The database URL of this process, if it differs from the real one, such as a proxy. */
  readonly databaseUrl?: string;
}

interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

interface RequestOptions {
  readonly apiKey?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Service extends Tenant {
  readonly url: string;
  /** URL of its streams. `websocket_url` is an address that only a load balancer would have. */
  readonly streamUrl: string;
  readonly deps: Deps;
  readonly engine: ScriptedEngine;
  readonly config: Config;
  readonly database: TestDatabase;
  /** Every log line so far. */
  logged(): string;
  /** Calls the API and validates every response against the contract. An invalid one fails the test. */
  request<Body = ErrorBody>(path: string, init?: RequestInit): Promise<Answer<Body>>;
  models(): Promise<Answer<ModelList>>;
  createSession(body?: unknown, options?: RequestOptions): Promise<Answer<AsrSession>>;
  refusedSession(body?: unknown, options?: RequestOptions): Promise<Answer<ErrorBody>>;
  usage(options?: RequestOptions): Promise<Answer<CreditBalance>>;
  addTenant(input: { creditMs: number }): Promise<Tenant>;
  addKey(
    accountId: string,
    rules?: Partial<Pick<ApiKeyRecord, 'scopes' | 'expiresAt'>>,
  ): Promise<Tenant>;
  /** How long open streams may continue. By default they end at once. */
  stop(options?: { drainMs?: number }): Promise<void>;
}

/** Starts a complete service on its own database, with limits that tests don't reach by accident. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const database = options.database ?? (await createTestDatabase());
  const config = parseConfig({
    ...WIDE_LIMITS,
    ...secrets,
    PORT: '0',
    DATABASE_URL: options.databaseUrl ?? database.url,
    PUBLIC_STREAM_URL: 'wss://node-1.example.com/v1/asr/stream',
    // A unique id per process. With the same id the earlier process would be superseded.
    NODE_ID: `node-${randomUUID()}`,
    LOG_LEVEL: 'trace',
    ...options.env,
  });
  let logged = '';
  const destination = { write: (line: string) => void (logged += line) };
  const log = createLog({ level: config.logLevel, destination });
  const { script, capacity, engineStarted } = options;
  const engine = createScriptedEngine({
    stalledAfterMs: 200,
    ...(script === undefined ? {} : { script }),
    ...(capacity === undefined ? {} : { capacity }),
    ...(engineStarted === undefined ? {} : { started: engineStarted }),
  });
  const server = await startServer(config, { log, engine, ...options.parts });
  const tenants = tenantMaker(database, config);
  const tenant = await tenants.addTenant({ creditMs: options.creditMs ?? 3_600_000 });
  return {
    ...tenant,
    ...tenants,
    ...httpClient(server, tenant),
    url: server.url,
    streamUrl: server.url.replace(/^http/, 'ws') + STREAM_PATH,
    deps: server.deps,
    engine,
    config,
    database,
    logged: () => logged,
    async stop(stopping = { drainMs: 0 }) {
      await server.stop(stopping);
      await engine.close();
      if (options.database === undefined) await database.drop();
    },
  };
}

const secrets = generateSecrets();
const WIDE_LIMITS = {
  RATE_SESSIONS: '600000',
  RATE_USAGE: '600000',
  RATE_MODELS: '600000',
  RATE_FAILED_AUTHENTICATION: '600000',
  RATE_FAILED_UPGRADES: '600000',
};

function tenantMaker(
  database: TestDatabase,
  config: Config,
): Pick<Service, 'addTenant' | 'addKey'> {
  const pepper = config.secrets.apiKeyPeppers[0].secret;
  async function addKey(
    accountId: string,
    rules: Partial<Pick<ApiKeyRecord, 'scopes' | 'expiresAt'>> = {},
  ): Promise<Tenant> {
    return createKey(database.pool, { accountId, pepper, rules });
  }
  return {
    addKey,
    addTenant: async ({ creditMs }) =>
      addKey(await createFundedAccount(database.pool, { creditMs })),
  };
}

function httpClient(server: RunningServer, tenant: Tenant) {
  async function request<Body>(path: string, init: RequestInit = {}): Promise<Answer<Body>> {
    const response = await fetch(server.url + path, init);
    const text = await response.text();
    checkAnswer({ method: init.method ?? 'GET', path, response, text });
    const body: Body = JSON.parse(text);
    return { status: response.status, headers: response.headers, body };
  }
  function authorization(options: RequestOptions): Record<string, string> {
    const { apiKey = tenant.apiKey } = options;
    return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  }
  function post<Body>(body: unknown, options: RequestOptions): Promise<Answer<Body>> {
    return request<Body>('/v1/asr/sessions', {
      method: 'POST',
      headers: {
        ...authorization(options),
        'content-type': 'application/json',
        ...options.headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }
  return {
    request,
    models: () => request<ModelList>('/v1/models'),
    createSession: (body: unknown = { model: KIKUYU }, options: RequestOptions = {}) =>
      post<AsrSession>(body, options),
    refusedSession: (body: unknown = { model: KIKUYU }, options: RequestOptions = {}) =>
      post<ErrorBody>(body, options),
    usage: (options: RequestOptions = {}) =>
      request<CreditBalance>('/v1/usage', {
        headers: { ...authorization(options), ...options.headers },
      }),
  };
}
