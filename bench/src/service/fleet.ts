import { createAccount } from '@svc-asr/server/accounts/accounts.ts';
import { insertApiKey } from '@svc-asr/server/accounts/api-keys.ts';
import { generateApiKey, hashApiKey } from '@svc-asr/server/api-key-format.ts';
import { generateSecrets } from '@svc-asr/server/config.ts';
import { createPool, type Pool } from '@svc-asr/server/db.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { startLocalPostgres, type LocalPostgres } from '@svc-asr/server/local-postgres.ts';
import { migrate } from '@svc-asr/server/migrate.ts';
import { MODELS_DIR } from '@svc-asr/engine/test/speech.ts';
import type { AsrSession, CreditBalance, ModelId } from '@svc-asr/protocol';
import { randomUUID } from 'node:crypto';
import { setTimeout as pass } from 'node:timers/promises';
import { ServiceProcess } from './service-process.ts';

export interface Tenant {
  readonly accountId: string;
  readonly apiKey: string;
}

const RESERVE_WITHIN_MS = 60_000;
const WIDE = '6000000';
const DATABASE = { settings: { max_connections: '400' } };

/** A database and as many processes of the service on it as a campaign wants. */
export class Fleet {
  readonly pool: Pool;
  postgres: LocalPostgres;
  readonly processes: ServiceProcess[] = [];
  readonly #secrets = generateSecrets();
  #launches = 0;

  private constructor(postgres: LocalPostgres) {
    this.postgres = postgres;
    this.pool = createPool({ url: postgres.url });
  }

  /** With a directory of its own the database can be stopped and come back. */
  static async start(options: { dataDir?: string } = {}): Promise<Fleet> {
    // What comes back must be what was committed.
    const fsync = options.dataDir !== undefined;
    const postgres = await startLocalPostgres({ ...options, ...DATABASE, fsync });
    await migrate({ url: postgres.url });
    return new Fleet(postgres);
  }

  /** The same data at the same address. */
  async restartDatabase(): Promise<void> {
    const { dataDir, port } = this.postgres;
    this.postgres = await startLocalPostgres({ dataDir, port, ...DATABASE, fsync: true });
  }

  async launch(env: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
    this.#launches += 1;
    const launched = await ServiceProcess.start({
      ...this.#secrets,
      PORT: '0',
      DATABASE_URL: this.postgres.url,
      PUBLIC_STREAM_URL: 'ws://placed.invalid',
      ALLOW_INSECURE_WS: '1',
      NODE_ID: `node-${this.#launches}`,
      MODELS_DIR,
      ENGINE_CHILDREN: '1',
      LOG_LEVEL: 'info',
      RATE_SESSIONS: WIDE,
      FAILED_SESSIONS_PER_HOUR: WIDE,
      RATE_USAGE: WIDE,
      RATE_UPGRADES: WIDE,
      ...env,
    });
    this.processes.push(launched);
    return launched;
  }

  async addTenants(count: number, creditMs: number): Promise<Tenant[]> {
    const pepper = Buffer.from(this.#secrets.API_KEY_PEPPER, 'base64');
    const ledger = createLedger(this.pool);
    const tenants: Tenant[] = [];
    while (tenants.length < count) {
      const batch = Array.from({ length: Math.min(10, count - tenants.length) }, async () => {
        const accountId = await createAccount(this.pool, { name: 'Campaign' });
        const grant = {
          accountId,
          ms: creditMs,
          reason: 'credit for a campaign',
          actor: 'campaign',
        };
        await ledger.grant({ ...grant, id: randomUUID() });
        const { key, publicId } = generateApiKey();
        await insertApiKey(this.pool, { id: publicId, accountId, hmac: hashApiKey(key, pepper) });
        return { accountId, apiKey: key };
      });
      tenants.push(...(await Promise.all(batch)));
    }
    return tenants;
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
    await this.pool.end();
    await this.postgres.stop('immediate');
  }
}

/** What a trusted server does: one call. Null when it is refused. */
export async function createSession(
  url: string,
  tenant: Tenant,
  body: { model: ModelId; max_audio_seconds?: number },
  idempotencyKey: string = randomUUID(),
): Promise<AsrSession | null> {
  const response = await fetch(`${url}/v1/asr/sessions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tenant.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify(body),
  });
  const answer: AsrSession = JSON.parse(await response.text());
  return response.status === 201 ? answer : null;
}

/** As callers are told to: 429 and 503 are tried again with the same key. */
export async function reserveSession(
  url: string,
  tenant: Tenant,
  body: { model: ModelId; max_audio_seconds?: number },
): Promise<AsrSession> {
  const deadlineMs = performance.now() + RESERVE_WITHIN_MS;
  // One key for all tries: a 503 may come from a reservation that was made all the same.
  const key = randomUUID();
  while (performance.now() < deadlineMs) {
    const session = await createSession(url, tenant, body, key).catch(() => null);
    if (session !== null) return session;
    await pass(100);
  }
  throw new Error('No session could be reserved.');
}

/** Once nothing of it is open any more: a close is answered after a second even when its settlement takes longer. */
export async function usageOf(url: string, tenant: Tenant): Promise<CreditBalance> {
  const headers = { authorization: `Bearer ${tenant.apiKey}` };
  const deadlineMs = performance.now() + RESERVE_WITHIN_MS;
  while (performance.now() < deadlineMs) {
    const response = await fetch(`${url}/v1/usage`, { headers });
    const balance: CreditBalance = JSON.parse(await response.text());
    const isOpen = (): boolean => balance.recent_sessions.some(({ status }) => status === 'active');
    if (response.status === 200 && !isOpen()) return balance;
    await pass(50);
  }
  throw new Error('A session stays open.');
}
