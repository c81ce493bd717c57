import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, createPool, type Pool } from '@svc-asr/server/db.ts';
import { findViolations } from '@svc-asr/server/ledger/audit.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { startLocalPostgres, type LocalPostgres } from '@svc-asr/server/local-postgres.ts';
import { migrate } from '@svc-asr/server/migrate.ts';
import { registerCampaignNode } from '../campaign-node.ts';
import type { Campaign } from '../campaign.ts';
import { startLoad, type Load, type LoadTally } from '../session-load.ts';

const SIZE = { full: 200, short: 4 };
const CLIENTS = 8;
const SETTLE_TIMEOUT_MS = 120_000;

/**
 * PostgreSQL is killed at random while clients create sessions over HTTP and a node claims and
 * closes them. Each client adds up what it was told; in the end that is what the database must say.
 */
export const campaign: Campaign = {
  about: 'PostgreSQL killed under load: books right, balances as the clients added them up',
  async run({ short, log }) {
    const wanted = short ? SIZE.short : SIZE.full;
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-kill-postgres-'));
    const victim = await startVictim(dataDir);
    const owner = createPool({ url: victim.url(), statementTimeoutMs: 120_000 });
    let load: Load | undefined;
    try {
      await migrate({ url: victim.url() });
      const nodeEpoch = await registerCampaignNode(owner);
      load = await startLoad({ databaseUrl: victim.url(), owner, clients: CLIENTS, nodeEpoch });
      let violations = 0;
      for (let kills = 1; kills <= wanted; kills += 1) {
        await untilSomeMore(load.tally, 5);
        await victim.kill();
        violations += (await findViolations(owner)).length;
        if (kills % 10 === 0)
          log(`${kills} of ${wanted} kills, ${load.tally.settled} sessions settled`);
      }
      await load.finish();
      const found = await findViolations(owner);
      for (const line of found) log(line);
      violations += found.length;
      const { lost, doubled } = await compare(owner, load);
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
  },
};

/**
 * Every kill lands in the middle of work: some sessions must have been settled since the last one.
 */
async function untilSomeMore(tally: LoadTally, sessions: number): Promise<void> {
  const target = tally.settled + sessions;
  const deadline = performance.now() + SETTLE_TIMEOUT_MS;
  while (tally.settled < target) {
    if (performance.now() > deadline) throw new Error('No session was settled after a restart.');
    await delay(5);
  }
  await delay(Math.random() * 100);
}

/** The client's own sums are the judge. */
async function compare(owner: Pool, load: Load): Promise<{ lost: number; doubled: number }> {
  let lost = 0;
  let doubled = 0;
  for (const client of load.clients) {
    const balance = await createLedger(owner).balance(client.accountId);
    if (balance === null || balance.consumedMs < client.consumedMs) lost += 1;
    if (balance !== null && balance.consumedMs > client.consumedMs) doubled += 1;
    if (balance?.reservedMs !== 0) lost += 1;
  }
  return { lost, doubled };
}

interface Victim {
  url(): string;
  /** Resolves when it serves again. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

async function startVictim(dataDir: string): Promise<Victim> {
  // Durable, as in production: what was answered must survive.
  let server = await startLocalPostgres({ dataDir, fsync: true });
  const { port, url } = server;
  return {
    url: () => url,
    async kill() {
      const way = Math.random();
      if (way < 0.3) await server.stop('immediate');
      else if (way < 0.6) await killPostmaster(server);
      else return killBackend(server);
      server = await startAgain({ dataDir, port });
    },
    stop: () => server.stop('immediate'),
  };
}

async function killPostmaster(server: LocalPostgres): Promise<void> {
  process.kill(await server.pid(), 'SIGKILL');
  await server.ended;
}

/**
 * One backend dies by the hand of the system, as when memory runs out: the postmaster then restarts
 * all of it.
 */
async function killBackend(server: LocalPostgres): Promise<void> {
  const witness = await connect({ url: server.url });
  const cut = new Promise<void>((resolve) => void witness.once('end', () => resolve()));
  const { rows } = await witness.query<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
      order by random() limit 1`,
  );
  if (rows[0] === undefined) throw new Error('Nobody is connected: there is no load.');
  process.kill(rows[0].pid, 'SIGKILL');
  // Every connection is cut before it recovers: without waiting for that, the old server might
  // answer once more.
  await cut;
  await untilItAnswers(server.url);
}

async function untilItAnswers(url: string): Promise<void> {
  for (;;) {
    await delay(20);
    const client = await connect({ url }).catch(() => null);
    if (client !== null) return client.end();
  }
}

/**
 * Backends outlive their postmaster for a moment, and while one does no new server may touch the
 * directory.
 */
async function startAgain(input: { dataDir: string; port: number }): Promise<LocalPostgres> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startLocalPostgres({ ...input, fsync: true });
    } catch (error) {
      if (attempt === 50) throw error;
      await delay(100);
    }
  }
}
