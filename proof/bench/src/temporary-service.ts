import { randomUUID } from 'node:crypto';
import { createAccountWithKey, type Tenant } from '@svc-asr/local/account-with-key.ts';
import { setConcurrency } from '@svc-asr/server/accounts/accounts.ts';
import { generateSecrets, parseConfig } from '@svc-asr/server/config.ts';
import type { Pool } from '@svc-asr/server/platform/database/db.ts';
import { startServer } from '@svc-asr/server/server.ts';
import { registerCampaignNode } from './campaign-node.ts';
import { startTemporaryLedger, type TemporaryLedger } from './temporary-ledger.ts';
import { WIDE_LIMITS } from './wide-limits.ts';

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
  addTenants(count: number, rules?: TenantRules): Promise<Tenant[]>;
  stop(): Promise<void>;
}

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
        ...WIDE_LIMITS,
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
): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  const makers = Array.from({ length: MAKERS }, async (_, maker) => {
    for (let at = maker; at < input.count; at += MAKERS) {
      const tenant = await createAccountWithKey(owner, {
        id: input.accountId?.(at) ?? randomUUID(),
        creditMs: CREDIT_MS,
        pepper: input.pepper,
      });
      if (input.concurrency !== undefined) {
        await setConcurrency(owner, { id: tenant.accountId, limit: input.concurrency });
      }
      tenants[at] = tenant;
    }
  });
  await Promise.all(makers);
  return tenants;
}
