import { eventually } from '@svc-asr/testing/eventually.ts';
import { generateSecrets } from '@svc-asr/server/config.ts';
import { inTransaction } from '@svc-asr/server/platform/database/db.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { registerCampaignNode } from '../campaign-node.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { reserveByPgbench } from '../reserve/bare-load.ts';
import { measureCallLog } from '../reserve/call-log-cost.ts';
import { cpuSecondsOf } from '../reserve/cpu-time.ts';
import { reserveByHttp } from '../reserve/http-load.ts';
import { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { startTemporaryLedger, type TemporaryLedger } from '../temporary-ledger.ts';
import type { Tenant } from '@svc-asr/local/account-with-key.ts';
import { addTenants } from '../temporary-service.ts';
import { WIDE_LIMITS } from '../wide-limits.ts';

const SIZE = {
  full: { rounds: 10, reservations: 4_000, accounts: 400, calls: 10_000 },
  short: { rounds: 1, reservations: 1_000, accounts: 100, calls: 2_000 },
};
const CLIENTS = 8;
const CONCURRENCY = 10_000;
const GOAL_RATIO = 0.6;
const GOAL_LOG_SHARE = 0.02;

interface Sum {
  reservations: number;
  cpuSeconds: number;
}

/**
 * Makes the same reservations with the bare SQL function (pgbench) and over HTTP (key, limits, JSON, credential), in
 * alternating rounds on one PostgreSQL. Compares CPU time, which a busy machine hardly changes: PostgreSQL and pgbench
 * against PostgreSQL and the API process. Also measures which share of that is the call log.
 */
export const about =
  'reservations per CPU second over HTTP, relative to the bare SQL function; goal 0.60, at most 2 % for the call log';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const size = short ? SIZE.short : SIZE.full;
  const ledger = await startTemporaryLedger();
  const secrets = generateSecrets();
  let api: ServiceProcess | undefined;
  try {
    await registerCampaignNode(ledger.owner);
    api = await startApi(ledger.server.url, secrets);
    const postgres = await ledger.server.pid();
    const bare: Sum = { reservations: 0, cpuSeconds: 0 };
    const http: Sum = { reservations: 0, cpuSeconds: 0 };
    const latencies: number[] = [];
    const logShares: number[] = [];
    // The first round is a warm-up.
    for (let round = 0; round <= size.rounds; round += 1) {
      const pepper = Buffer.from(secrets.API_KEY_PEPPER, 'base64');
      const making = { count: size.accounts, pepper };
      await startAfresh(ledger, making);
      const bareSeconds = await measureBare(ledger, { postgres, ...size });
      const tenants = await startAfresh(ledger, making);
      const before = { postgres: cpuSecondsOf(postgres), api: cpuSecondsOf(api.pid) };
      const roundLatencies = await reserveByHttp({
        url: api.url,
        apiKeys: tenants.map(({ apiKey }) => apiKey),
        clients: CLIENTS,
        reservations: size.reservations,
      });
      const postgresSeconds = cpuSecondsOf(postgres) - before.postgres;
      const apiSeconds = cpuSecondsOf(api.pid) - before.api;
      const accountIds = tenants.map((tenant) => tenant.accountId);
      const logged = await measureCallLog(ledger, { postgres, calls: size.calls, accountIds });
      if (round === 0) continue;
      bare.reservations += size.reservations;
      bare.cpuSeconds += bareSeconds;
      http.reservations += size.reservations;
      http.cpuSeconds += postgresSeconds + apiSeconds;
      latencies.push(...roundLatencies);
      const perReservation = (postgresSeconds + apiSeconds) / size.reservations;
      const perCall = (logged.postgresSeconds + logged.apiSeconds) / size.calls;
      logShares.push(perCall / (perReservation - perCall));
      log(
        `round ${round}: bare ${bareSeconds.toFixed(2)} CPU s, ` +
          `HTTP ${postgresSeconds.toFixed(2)} (PostgreSQL) + ${apiSeconds.toFixed(2)} (API), ` +
          `call log ${(logShares.at(-1) ?? 0).toFixed(4)}`,
      );
    }
    const ratio = perCpuSecond(http) / perCpuSecond(bare);
    const logShare = percentile(logShares, 0.5);
    return {
      passed: ratio >= GOAL_RATIO && logShare <= GOAL_LOG_SHARE,
      figures: {
        bare_per_cpu_s: Math.round(perCpuSecond(bare)),
        http_per_cpu_s: Math.round(perCpuSecond(http)),
        ratio: Number(ratio.toFixed(3)),
        p99_ms: Number(percentile(latencies, 0.99).toFixed(2)),
        call_log_share: Number(logShare.toFixed(4)),
        call_log_share_worst: Number(Math.max(...logShares).toFixed(4)),
      },
    };
  } finally {
    await api?.stop();
    await ledger.stop();
  }
}

/** As in production, including logging. */
function startApi(
  databaseUrl: string,
  secrets: ReturnType<typeof generateSecrets>,
): Promise<ServiceProcess> {
  return ServiceProcess.start({
    ...secrets,
    ROLE: 'api',
    PORT: '0',
    DATABASE_URL: databaseUrl,
    PUBLIC_STREAM_URL: 'wss://campaign.example/v1/asr/stream',
    NODE_ID: 'campaign-api',
    ...WIDE_LIMITS,
  });
}

const ACCOUNT_PREFIX = '00000000-0000-4000-8000-';

/**
 * Creates an empty database with new accounts. Reservations left by one side would expire after a minute, and the
 * cleanup would be counted as work of the other side.
 */
async function startAfresh(
  { owner }: TemporaryLedger,
  input: { count: number; pepper: Buffer },
): Promise<Tenant[]> {
  await historyMarked(owner);
  await inTransaction(owner, async (db) => {
    await db.query('set local session_replication_role = replica');
    await db.query('truncate accounts cascade');
  });
  return addTenants(owner, { ...input, concurrency: CONCURRENCY, accountId });
}

/**
 * The API process refuses a database without its newest session, unless it has recorded a mark since. A mark under way
 * may be older than that session, so the second one counts.
 */
async function historyMarked(owner: TemporaryLedger['owner']): Promise<void> {
  const position = async () => {
    const sql = 'select coalesce(max(position), 0) as position from ledger_marks';
    return (await owner.query<{ position: number }>(sql)).rows[0]?.position ?? 0;
  };
  const before = await position();
  await eventually(async () => (await position()) >= before + 2);
}

function accountId(at: number): string {
  return ACCOUNT_PREFIX + String(at).padStart(12, '0');
}

async function measureBare(
  ledger: TemporaryLedger,
  input: { postgres: number; accounts: number; reservations: number },
): Promise<number> {
  const before = cpuSecondsOf(input.postgres);
  const pgbenchSeconds = await reserveByPgbench({
    databaseUrl: ledger.server.url,
    accounts: input.accounts,
    accountIdSql: `('${ACCOUNT_PREFIX}' || lpad(:n::text, 12, '0'))::uuid`,
    clients: CLIENTS,
    reservations: input.reservations,
  });
  return cpuSecondsOf(input.postgres) - before + pgbenchSeconds;
}

function perCpuSecond({ reservations, cpuSeconds }: Sum): number {
  return reservations / cpuSeconds;
}
