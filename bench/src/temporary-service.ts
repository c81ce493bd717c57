import { randomUUID } from 'node:crypto';
import { createAccount, setConcurrency } from '@svc-asr/server/accounts/accounts.ts';
import { insertApiKey } from '@svc-asr/server/accounts/api-keys.ts';
import { generateApiKey, hashApiKey } from '@svc-asr/server/accounts/api-key-format.ts';
import { generateSecrets, parseConfig } from '@svc-asr/server/config.ts';
import type { Pool } from '@svc-asr/server/platform/db.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { startServer } from '@svc-asr/server/server.ts';
import { registerCampaignNode } from './campaign-node.ts';
import { startTemporaryLedger, type TemporaryLedger } from './temporary-ledger.ts';

export interface CampaignTenant {
  readonly accountId: string;
  readonly apiKey: string;
}

export interface TenantRules {
  readonly concurrency?: number;
  /** Accounts whose ids are derived from their number. */
  readonly accountId?: (at: number) => string;
}

/** API processes on a temporary PostgreSQL. Nothing streams: sessions stay reserved. */
export interface TemporaryService {
  readonly urls: readonly string[];
  readonly ledger: TemporaryLedger;
  /** Number of responses with this status so far. */
  countAnswers(which: (status: number) => boolean): Promise<number>;
  addTenants(count: number, rules?: TenantRules): Promise<CampaignTenant[]>;
  stop(): Promise<void>;
}

const WIDE = '6000000';
const CREDIT_MS = 1_000_000_000_000;
/** Tenants created concurrently. */
const MAKERS = 8;

export async function startTemporaryService(options: {
  processes: number;
}): Promise<TemporaryService> {
  const ledger = await startTemporaryLedger();
  await registerCampaignNode(ledger.owner);
  const secrets = generateSecrets();
  const placement = { choose: () => ({ id: 'campaign', url: 'wss://campaign.example/stream' }) };
  const servers = await Promise.all(
    Array.from({ length: options.processes }, (_, at) => {
      const config = parseConfig({
        ...secrets,
        ROLE: 'api',
        PORT: '0',
        DATABASE_URL: ledger.server.url,
        PUBLIC_STREAM_URL: 'wss://campaign.example/stream',
        NODE_ID: `campaign-${at}`,
        LOG_LEVEL: 'silent',
        RATE_SESSIONS: WIDE,
        RATE_USAGE: WIDE,
        RATE_MODELS: WIDE,
        RATE_FAILED_AUTHENTICATION: WIDE,
      });
      return startServer(config, { placement });
    }),
  );
  const pepper = Buffer.from(secrets.API_KEY_PEPPER, 'base64');
  return {
    urls: servers.map(({ url }) => url),
    ledger,
    async countAnswers(which) {
      let count = 0;
      for (const { deps } of servers) {
        const { values } = await deps.metrics.httpSeconds.get();
        for (const { metricName, labels, value } of values) {
          if (metricName?.endsWith('_count') && which(Number(labels.status))) count += value;
        }
      }
      return count;
    },
    addTenants: (count, rules) => addTenants(ledger.owner, { count, pepper, ...rules }),
    async stop() {
      for (const server of servers) await server.stop();
      await ledger.stop();
    },
  };
}

export async function addTenants(
  owner: Pool,
  input: TenantRules & { count: number; pepper: Buffer },
): Promise<CampaignTenant[]> {
  const tenants: CampaignTenant[] = [];
  const makers = Array.from({ length: MAKERS }, async (_, maker) => {
    for (let at = maker; at < input.count; at += MAKERS) {
      tenants[at] = await addTenant(owner, { ...input, at });
    }
  });
  await Promise.all(makers);
  return tenants;
}

async function addTenant(
  owner: Pool,
  input: TenantRules & { at: number; pepper: Buffer },
): Promise<CampaignTenant> {
  const id = input.accountId?.(input.at) ?? randomUUID();
  const accountId = await createAccount(owner, { name: 'Campaign', id });
  const { key, publicId } = generateApiKey();
  await insertApiKey(owner, { id: publicId, accountId, hmac: hashApiKey(key, input.pepper) });
  if (input.concurrency !== undefined) {
    await setConcurrency(owner, { id: accountId, limit: input.concurrency });
  }
  const credit = { ms: CREDIT_MS, reason: 'credit for the campaign', actor: 'campaign' };
  await createLedger(owner).grant({ ...credit, accountId, id: randomUUID() });
  return { accountId, apiKey: key };
}
