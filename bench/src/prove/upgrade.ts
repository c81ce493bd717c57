import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { migrate } from '@svc-asr/server/platform/migrate.ts';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { freePort } from '@svc-asr/testing/free-port.ts';
import { startHaproxy, type Proxy } from '@svc-asr/testing/haproxy.ts';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { Fleet } from '../service/fleet.ts';
import { keepAllCalling, type CallTally } from '../service/callers.ts';

/**
 * Upgrades a running service as docs/operations/upgrade.md says: two processes of the old version under live streams, the new
 * version's migrations, then one process after the other. Old and new serve together on one schema in between.
 * An argument names the old version as a Git reference. Default: the last release, or else the commit before the last migration.
 */
const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export const campaign: Campaign = {
  about: 'an upgrade under live streams: old and new version on one schema',
  run: upgrade,
};

async function upgrade({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const [callers, streamMs, togetherMs] = short ? [3, 3_000, 4_000] : [12, 20_000, 30_000];
  const reference = args[0] ?? (await previousVersion());
  const folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
  const old = join(folder, 'old');
  const stopping = new AbortController();
  const tally: CallTally = { streams: 0, cut: 0, retries: 0 };
  try {
    await checkOut(reference, old);
    log(`old version: ${reference}`);
    const [fleet, certificate] = await Promise.all([
      Fleet.start({ migrate: (url) => migrateOld(old, url) }),
      makeCertificate(),
    ]);
    let proxy: Proxy | null = null;
    try {
      const ports = [String(await freePort()), String(await freePort())];
      const publicPort = await freePort();
      const launch = (at: number, main?: string) =>
        fleet.launch(
          {
            PORT: ports[at] ?? '',
            NODE_ID: `node-${at + 1}`,
            PUBLIC_STREAM_URL: `wss://127.0.0.1:${publicPort}`,
            TRUSTED_PROXIES: '127.0.0.1',
          },
          main,
        );
      const oldMain = join(old, 'server/src/main.ts');
      const nodes = await Promise.all([launch(0, oldMain), launch(1, oldMain)]);
      const urls = nodes.map((node) => node.url);
      proxy = await startHaproxy({
        certificate,
        port: publicPort,
        nodes: [urls[0] ?? '', urls[1] ?? ''],
      });
      const tenants = await fleet.addTenants(callers, 36_000_000);
      const calling = keepAllCalling(tenants, {
        api: urls,
        ca: certificate.cert,
        streamMs,
        tally,
        signal: stopping.signal,
      });
      await sleep(streamMs);
      const { migrations } = await countMigrations(fleet);
      await migrate({ url: fleet.postgres.url });
      const migrated = (await countMigrations(fleet)).migrations - migrations;
      log(`${migrated} migrations under streams: ${JSON.stringify(tally)}`);
      // The old version on the new schema.
      await sleep(togetherMs);
      await nodes[0]?.stop();
      nodes[0] = await launch(0);
      log(`old and new together: ${JSON.stringify(tally)}`);
      await sleep(togetherMs);
      await nodes[1]?.stop();
      nodes[1] = await launch(1);
      await sleep(streamMs / 2);
      stopping.abort();
      await calling;
      const { rows } = await fleet.pool.query<{ failed: number }>(
        `select count(*)::int as failed from sessions where status = 'failed'`,
      );
      const failed = rows[0]?.failed ?? -1;
      return {
        passed: tally.cut === 0 && failed === 0 && tally.streams >= callers * 2,
        figures: { ...tally, failed, migrations: migrated },
      };
    } finally {
      stopping.abort();
      await proxy?.stop();
      await fleet.stop();
    }
  } finally {
    await git('worktree', 'remove', '--force', old).catch(() => null);
    await rm(folder, { recursive: true, force: true });
  }
}

/** The last release, or else the commit before the last change to the schema. A shallow clone has only this version. */
async function previousVersion(): Promise<string> {
  const release = await git('describe', '--tags', '--abbrev=0', '--match', 'v*').catch(() => '');
  if (release !== '') return release;
  const change = await git('log', '-1', '--format=%H', '--', 'server/sql');
  return git('rev-parse', `${change}~1`).catch(() => git('rev-parse', 'HEAD'));
}

async function git(...words: readonly string[]): Promise<string> {
  return (await run('git', words, { cwd: ROOT })).stdout.trim();
}

async function checkOut(reference: string, folder: string): Promise<void> {
  await git('worktree', 'add', '--detach', folder, reference);
  const install = [
    '-y',
    'pnpm@12.18.0',
    'install',
    '--frozen-lockfile',
    '--prod',
    '--filter',
    '@svc-asr/server...',
  ];
  await run('npx', install, { cwd: folder });
}

async function migrateOld(folder: string, url: string): Promise<void> {
  const main = join(folder, 'server/src/admin/main.ts');
  await run(process.execPath, [main, 'migrate'], { env: { ...process.env, DATABASE_URL: url } });
}

async function countMigrations({ pool }: Fleet): Promise<{ migrations: number }> {
  const { rows } = await pool.query<{ migrations: number }>(
    'select count(*)::int as migrations from schema_migrations',
  );
  return { migrations: rows[0]?.migrations ?? 0 };
}
