import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createAccount, setConcurrency } from '@svc-asr/server/accounts/accounts.ts';
import { createPool, type Pool } from '@svc-asr/server/platform/db.ts';
import { findViolations } from '@svc-asr/server/ledger/audit.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { backdateSession } from '@svc-asr/testing/postgres/time-travel.ts';
import type { SqlBug } from '@svc-asr/testing/ledger/sql-bugs.ts';
import { onBrokenLedger } from '../broken-ledger.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { startTemporaryLedger } from '../temporary-ledger.ts';

const SIZE = { full: 1_000, short: 40 };
const CONTROL_SIZE = 10;
/** Claims that wait concurrently, each on its own connection. */
const BATCH = 20;
/** Time left until expiry when claims begin to wait. It doubles until a batch is in time, however slow the machine is. */
const LIFE_LEFT_MS = { first: 1_000, max: 32_000 };

/**
 * Wrong implementations of a claim, as controls: with each of them a late claim must succeed.
 */
const CONTROLS: Readonly<Record<string, SqlBug['changes']>> = {
  'the clock read before the lock': [
    { from: 'v_now timestamptz;', to: 'v_now timestamptz := clock_timestamp();' },
    { from: 'v_now := clock_timestamp();', to: '' },
  ],
  'now() in place of the clock': [{ from: 'v_now := clock_timestamp();', to: 'v_now := now();' }],
  'one statement': [
    {
      from: 'select * into v_session from sessions s where s.account_id = p_account and s.id = p_session for update;',
      to: `update sessions s set status = 'active', node_id = p_node, node_epoch = p_epoch,
        upgrade_id = p_upgrade, claimed_at = clock_timestamp()
        where s.account_id = p_account and s.id = p_session and s.status = 'reserved'
          and s.expires_at > clock_timestamp()
        returning * into v_session;
        if found then outcome := 'claimed'; return; end if;`,
    },
  ],
};

/** Claims wait for a lock until their credential has expired. None may succeed. */
export const about = 'claims that wait for a lock past their expiry: none may succeed';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const wanted = short ? SIZE.short : SIZE.full;
  const ledger = await startTemporaryLedger();
  try {
    const { late, won } = await holdClaims({
      owner: ledger.owner,
      url: ledger.server.url,
      wanted,
    });
    const violations = (await findViolations(ledger.owner)).length;
    log(`${late} late claims, ${won} won`);
    let controlsThatLose = 0;
    for (const [name, changes] of Object.entries(CONTROLS)) {
      const control = await onBrokenLedger(ledger, { in: 'claim_session', changes }, (broken) =>
        holdClaims({ ...broken, wanted: CONTROL_SIZE }),
      );
      log(`control, ${name}: ${control.won} of ${control.late} late claims won`);
      if (control.won > 0) controlsThatLose += 1;
    }
    const controls = Object.keys(CONTROLS).length;
    return {
      passed: late >= wanted && won === 0 && violations === 0 && controlsThatLose === controls,
      figures: {
        attempts: late,
        winners: won,
        violations,
        controls,
        controls_that_lose: controlsThatLose,
      },
    };
  } finally {
    await ledger.stop();
  }
}

async function holdClaims(input: {
  owner: Pool;
  url: string;
  wanted: number;
}): Promise<{ late: number; won: number }> {
  const claimants = createPool({
    url: input.url,
    role: 'svc_node',
    maxConnections: BATCH,
    statementTimeoutMs: 2 * LIFE_LEFT_MS.max,
  });
  const tally = { late: 0, won: 0 };
  let lifeLeftMs = LIFE_LEFT_MS.first;
  try {
    while (tally.late < input.wanted) {
      const outcomes = await holdBatch({ ...input, claimants, lifeLeftMs });
      if (outcomes.length === 0) lifeLeftMs = Math.min(2 * lifeLeftMs, LIFE_LEFT_MS.max);
      tally.late += outcomes.length;
      tally.won += outcomes.filter((outcome) => outcome === 'claimed').length;
    }
  } finally {
    await claimants.end();
  }
  return tally;
}

async function holdBatch(input: {
  owner: Pool;
  claimants: Pool;
  wanted: number;
  lifeLeftMs: number;
}): Promise<string[]> {
  const { owner } = input;
  const size = Math.min(BATCH, input.wanted);
  const { accountId, sessionIds } = await reserveMany(owner, size);
  for (const sessionId of sessionIds) {
    await backdateSession(owner, { sessionId, ms: 60_000 - input.lifeLeftMs });
  }
  const holder = await owner.connect();
  try {
    await holder.query('begin');
    await holder.query('select from sessions where account_id = $1 for update', [accountId]);
    const ledger = createLedger(input.claimants);
    const claims = sessionIds.map((sessionId) =>
      ledger.claim({ sessionId, accountId, nodeId: 'node-1', nodeEpoch: 1 }),
    );
    const inTime = await untilAllWait(owner, { accountId, size });
    await untilExpired(owner, accountId);
    await holder.query('rollback');
    const results = await Promise.all(claims);
    // Only claims that arrived in time and then waited count.
    return inTime ? results.map((result) => result.outcome) : [];
  } finally {
    holder.release();
  }
}

async function reserveMany(
  owner: Pool,
  size: number,
): Promise<{ accountId: string; sessionIds: string[] }> {
  const accountId = await createAccount(owner, { name: 'Late' });
  const ledger = createLedger(owner);
  await setConcurrency(owner, { id: accountId, limit: size });
  const credit = { ms: size * 60_000, reason: 'credit for the campaign', actor: 'campaign' };
  await ledger.grant({ ...credit, accountId, id: randomUUID() });
  const sessionIds: string[] = [];
  for (let index = 0; index < size; index += 1) {
    const reservation = await ledger.reserve({
      accountId,
      keyId: null,
      model: 'svc-asr-kikuyu-v1',
      requestedMs: 60_000,
      idempotencyKey: null,
      node: { id: 'node-1', url: 'wss://node-1.example/v1/asr/stream' },
    });
    if (reservation.outcome === 'reserved') sessionIds.push(reservation.session.id);
  }
  return { accountId, sessionIds };
}

/** Returns false if the last one began to wait after the first had expired. */
async function untilAllWait(
  owner: Pool,
  input: { accountId: string; size: number },
): Promise<boolean> {
  for (;;) {
    const { rows } = await owner.query<{ waiting: number; expired: boolean }>(
      `select (select count(*) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%claim_session%') as waiting,
        clock_timestamp() >= min(expires_at) as expired
        from sessions where account_id = $1`,
      [input.accountId],
    );
    if (rows[0]?.expired === true) return false;
    if (rows[0]?.waiting === input.size) return true;
    await delay(5);
  }
}

async function untilExpired(owner: Pool, accountId: string): Promise<void> {
  for (;;) {
    const { rows } = await owner.query<{ expired: boolean }>(
      'select clock_timestamp() > max(expires_at) as expired from sessions where account_id = $1',
      [accountId],
    );
    if (rows[0]?.expired === true) return;
    await delay(5);
  }
}
