import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, createPool, type Client } from '@svc-asr/server/platform/database/db.ts';
import { findViolations } from '@svc-asr/server/ledger/reports/audit.ts';
import { startLocalPostgres, type LocalPostgres } from '@svc-asr/local/local-postgres.ts';
import { migrate } from '@svc-asr/server/platform/database/migrate.ts';
import { registerCampaignNode } from '../campaign-node.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { compareCharges, startSessionLoad, type Load, type LoadTally } from '../session-load.ts';

const SIZE = { full: 200, short: 4 };
const CLIENTS = 8;
const SETTLE_TIMEOUT_MS = 120_000;

/**
 * PostgreSQL is killed at random while clients create sessions over HTTP and a node claims and
 * closes them. Each client sums its charges; in the end the database must agree.
 */
export const about =
  'PostgreSQL killed under load: the ledger is consistent and matches the charges that clients saw';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const wanted = short ? SIZE.short : SIZE.full;
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-kill-postgres-'));
  const victim = await startVictim(dataDir);
  const owner = createPool({ url: victim.url(), statementTimeoutMs: 120_000 });
  let load: Load | undefined;
  try {
    await migrate({ url: victim.url() });
    const nodeEpoch = await registerCampaignNode(owner);
    load = await startSessionLoad({
      databaseUrl: victim.url(),
      owner,
      clients: CLIENTS,
      nodeEpoch,
    });
    let violations = 0;
    for (let kills = 1; kills <= wanted; kills += 1) {
      await waitForSettlements(load.tally, 5);
      await victim.kill();
      violations += (await findViolations(owner)).length;
      if (kills % 10 === 0)
        log(`${kills} of ${wanted} kills, ${load.tally.settled} sessions settled`);
    }
    await load.finish();
    const found = await findViolations(owner);
    for (const line of found) log(line);
    violations += found.length;
    const { lost, doubled } = await compareCharges(owner, load.clients);
    const { settled, retries } = load.tally;
    return {
      passed: violations === 0 && lost === 0 && doubled === 0 && settled > wanted,
      figures: { kills: wanted, sessions: settled, retries, lost, doubled, violations },
    };
  } finally {
    await load?.stop();
    await owner.end();
    await victim.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/**
 * Waits until some sessions were settled since the last kill, so that each kill hits work in progress.
 */
async function waitForSettlements(tally: LoadTally, sessions: number): Promise<void> {
  const target = tally.settled + sessions;
  const deadline = performance.now() + SETTLE_TIMEOUT_MS;
  while (tally.settled < target) {
    if (performance.now() > deadline) throw new Error('No session was settled after a restart.');
    await delay(5);
  }
  await delay(Math.random() * 100);
}

interface Victim {
  url(): string;
  /** Resolves when it accepts connections again. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

async function startVictim(dataDir: string): Promise<Victim> {
  // Durable, as in production: acknowledged commits must survive.
  let server = await startLocalPostgres({ dataDir, fsync: true });
  const { url } = server;
  return {
    url: () => url,
    async kill() {
      const way = Math.random();
      if (way < 0.3) await server.stop('immediate');
      else if (way < 0.6) await killPostmaster(server);
      else return killBackend(server);
      server = await startAgain(dataDir);
    },
    stop: () => server.stop('immediate'),
  };
}

async function killPostmaster(server: LocalPostgres): Promise<void> {
  process.kill(await server.pid(), 'SIGKILL');
  await server.ended;
}

/**
 * Kills one backend, as the OOM killer would. The postmaster then restarts all of them.
 */
async function killBackend(server: LocalPostgres): Promise<void> {
  const witness = await connect({ url: server.url });
  const cut = new Promise<void>((resolve) => void witness.once('end', () => resolve()));
  while (!(await killAnyBackend(witness))) await delay(5);
  // Recovery starts after every connection is closed. Without this wait the old server might answer
  // once more.
  await cut;
  await waitUntilReady(server.url);
}

/** Returns false if no other client is connected, or the chosen one has just disconnected. */
async function killAnyBackend(witness: Client): Promise<boolean> {
  const { rows } = await witness.query<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
      order by random() limit 1`,
  );
  try {
    return rows[0] !== undefined && process.kill(rows[0].pid, 'SIGKILL');
  } catch {
    return false;
  }
}

async function waitUntilReady(url: string): Promise<void> {
  for (;;) {
    await delay(20);
    const client = await connect({ url }).catch(() => null);
    if (client !== null) return client.end();
  }
}

/**
 * Retries the start: backends outlive their postmaster for a moment, and a new server must not use
 * the directory before they exit.
 */
async function startAgain(dataDir: string): Promise<LocalPostgres> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startLocalPostgres({ dataDir, fsync: true });
    } catch (error) {
      if (attempt === 50) throw error;
      await delay(100);
    }
  }
}
