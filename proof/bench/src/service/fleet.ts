import { generateSecrets } from '@svc-asr/server/config.ts';
import { createPool, type Pool } from '@svc-asr/server/platform/database/db.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { startLocalPostgres, type LocalPostgres } from '@svc-asr/local/local-postgres.ts';
import { migrate } from '@svc-asr/server/platform/database/migrate.ts';
import { createAccountWithKey, type Tenant } from '@svc-asr/local/account-with-key.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import type { AsrSession, CreditBalance, ModelId } from '@svc-asr/protocol';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { WIDE_LIMITS } from '../wide-limits.ts';

export type { Tenant };

const RESERVE_WITHIN_MS = 60_000;
/** Launch with these to run under the limits that users meet. An empty setting selects the default. */
export const DEFAULT_LIMITS = { RATE_SESSIONS: '', RATE_USAGE: '' } as const;
const DATABASE = { settings: { max_connections: '400' } };

/** A database and the service processes that a campaign needs. */
export class Fleet {
  readonly pool: Pool;
  postgres: LocalPostgres;
  readonly processes: ServiceProcess[] = [];
  readonly #isDurable: boolean;
  readonly #secrets = generateSecrets();
  #launches = 0;

  private constructor(postgres: LocalPostgres, isDurable: boolean) {
    this.postgres = postgres;
    this.#isDurable = isDurable;
    this.pool = createPool({ url: postgres.url });
  }

  /** A durable database can be stopped and restarted: what it committed survives. */
  static async start(
    options: { isDurable?: boolean; migrate?: (url: string) => Promise<void> } = {},
  ): Promise<Fleet> {
    const { isDurable = false, migrate: install } = options;
    const directory = isDurable ? { dataDir: await mkdtemp(join(tmpdir(), 'svc-fleet-')) } : {};
    const postgres = await startLocalPostgres({ ...directory, ...DATABASE, fsync: isDurable });
    await (install === undefined ? migrate({ url: postgres.url }) : install(postgres.url));
    return new Fleet(postgres, isDurable);
  }

  /** Restarts it with the same data and address. */
  async restartDatabase(): Promise<void> {
    const { dataDir } = this.postgres;
    this.postgres = await startLocalPostgres({ dataDir, ...DATABASE, fsync: true });
  }

  /** `main` starts another version of the service. */
  async launch(env: Readonly<Record<string, string>> = {}, main?: string): Promise<ServiceProcess> {
    this.#launches += 1;
    const settings = {
      ...this.#secrets,
      PORT: '0',
      DATABASE_URL: this.postgres.url,
      PUBLIC_STREAM_URL: 'ws://placed.invalid',
      ALLOW_INSECURE_WS: '1',
      NODE_ID: `node-${this.#launches}`,
      MODELS_DIR,
      ENGINE_CHILDREN: '1',
      LOG_LEVEL: 'info',
      ...WIDE_LIMITS,
      ...env,
    };
    const launched = await ServiceProcess.start(settings, main);
    this.processes.push(launched);
    return launched;
  }

  get apiKeyPepper(): Buffer {
    return Buffer.from(this.#secrets.API_KEY_PEPPER, 'base64');
  }

  async addTenants(count: number, creditMs: number): Promise<Tenant[]> {
    const pepper = this.apiKeyPepper;
    const tenants: Tenant[] = [];
    while (tenants.length < count) {
      const batch = Array.from({ length: Math.min(10, count - tenants.length) }, () =>
        createAccountWithKey(this.pool, { name: 'Campaign', creditMs, pepper }),
      );
      tenants.push(...(await Promise.all(batch)));
    }
    return tenants;
  }

  async countFailedSessions(): Promise<number> {
    const { rows } = await this.pool.query<{ failed: number }>(
      "select count(*)::int as failed from sessions where status = 'failed'",
    );
    return rows[0]?.failed ?? -1;
  }

  /** Asks the database: requests for sessions would use up the account's rate. */
  async untilSessionsFailed({ accountId }: Tenant): Promise<void> {
    const others = "select from sessions where account_id = $1 and status <> 'failed'";
    await eventually(async () => (await this.pool.query(others, [accountId])).rowCount === 0);
  }

  /** Expired leases are ignored for some seconds after the start of the database. */
  async untilLeasesCount(): Promise<void> {
    const counting = 'select from sweeper_watch where quiet_until < clock_timestamp()';
    await eventually(async () => (await this.pool.query(counting)).rowCount === 1);
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.stop()));
    await this.pool.end();
    await this.postgres.stop('immediate');
    if (this.#isDurable) await rm(this.postgres.dataDir, { recursive: true, force: true });
  }
}

/** Creates a session like a trusted server. Returns null if it is refused. */
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

/** Retries 429 and 503 with the same key, as documented. */
export async function reserveSession(
  url: string,
  tenant: Tenant,
  body: { model: ModelId; max_audio_seconds?: number },
): Promise<AsrSession> {
  const deadlineMs = performance.now() + RESERVE_WITHIN_MS;
  // Use one key for all attempts: a 503 may arrive after the reservation was made.
  const key = randomUUID();
  while (performance.now() < deadlineMs) {
    const session = await createSession(url, tenant, body, key).catch(() => null);
    if (session !== null) return session;
    await sleep(100);
  }
  throw new Error('No session could be reserved.');
}

/** Waits until all sessions are settled. A close is sent after a second even if its settlement takes longer. */
export async function usageOf(url: string, tenant: Tenant): Promise<CreditBalance> {
  const headers = { authorization: `Bearer ${tenant.apiKey}` };
  const deadlineMs = performance.now() + RESERVE_WITHIN_MS;
  while (performance.now() < deadlineMs) {
    const response = await fetch(`${url}/v1/usage`, { headers });
    const balance: CreditBalance = JSON.parse(await response.text());
    const isOpen = (): boolean => balance.recent_sessions.some(({ status }) => status === 'active');
    if (response.status === 200 && !isOpen()) return balance;
    await sleep(50);
  }
  throw new Error('A session was not settled.');
}
