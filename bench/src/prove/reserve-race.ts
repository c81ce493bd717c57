import type { Tenant } from '@svc-asr/local/account-with-key.ts';
import { findAccount } from '@svc-asr/server/accounts/accounts.ts';
import { findViolations } from '@svc-asr/server/ledger/audit.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { startTemporaryService, type TemporaryService } from '../temporary-service.ts';

const SIZE = { full: 1_000, short: 40 };
const RACERS = 16;
const ONE_RESERVATION_MS = 60_000;

interface Tally {
  attempts: number;
  winners: number;
  server_errors: number;
  violations: number;
}

/** The result of one request. */
interface Finish {
  readonly status: number;
  readonly body: string;
}

/**
 * Sends sixteen concurrent requests for one account that may have one session, over two API processes. Without an
 * idempotency key one succeeds and fifteen get 429. With one key all sixteen get the same session.
 */
export const about =
  '16 parallel POSTs per account, with and without an idempotency key: one reservation each';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const accounts = short ? SIZE.short : SIZE.full;
  const service = await startTemporaryService({ processes: 2 });
  const tally: Tally = { attempts: 0, winners: 0, server_errors: 0, violations: 0 };
  try {
    for (const withKey of [false, true]) {
      const tenants = await service.addTenants(accounts);
      for (const [at, tenant] of tenants.entries()) {
        const finishes = await race(service, tenant, withKey ? `race-${at}` : null);
        judge(finishes, withKey, tally);
        if (!(await hasOneReservation(service, tenant))) tally.violations += 1;
        if ((at + 1) % 250 === 0) log(`${at + 1} accounts ${withKey ? 'with' : 'without'} a key`);
      }
    }
    const found = await findViolations(service.ledger.owner);
    for (const line of found) log(line);
    tally.violations += found.length;
  } finally {
    await service.stop();
  }
  const passed =
    tally.winners === 2 * accounts && tally.server_errors === 0 && tally.violations === 0;
  return { passed, figures: { accounts, ...tally } };
}

async function race(
  service: TemporaryService,
  tenant: Tenant,
  key: string | null,
): Promise<Finish[]> {
  const headers = {
    authorization: `Bearer ${tenant.apiKey}`,
    'content-type': 'application/json',
    ...(key === null ? {} : { 'idempotency-key': key }),
  };
  const body = JSON.stringify({ model: 'svc-asr-kikuyu-v1' });
  return Promise.all(
    Array.from({ length: RACERS }, async (_, at) => {
      const url = service.urls[at % service.urls.length];
      const answer = await fetch(`${url}/v1/asr/sessions`, { method: 'POST', headers, body });
      return { status: answer.status, body: await answer.text() };
    }),
  );
}

function judge(finishes: readonly Finish[], withKey: boolean, tally: Tally): void {
  const won = finishes.filter(({ status }) => status === 201);
  const refused = finishes.filter(({ status }) => status === 429);
  tally.attempts += finishes.length;
  tally.server_errors += finishes.filter(({ status }) => status >= 500).length;
  // With one key, sixteen equal responses are one reservation.
  tally.winners += new Set(won.map(({ body }) => body)).size;
  const right = withKey ? won.length === RACERS : won.length === 1 && refused.length === RACERS - 1;
  if (!right) tally.violations += 1;
}

/** Checks in the database that the account has exactly one reservation. */
async function hasOneReservation(service: TemporaryService, tenant: Tenant): Promise<boolean> {
  const account = await findAccount(service.ledger.owner, tenant.accountId);
  return account?.reservedMs === ONE_RESERVATION_MS;
}
