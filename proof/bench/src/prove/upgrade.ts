import { execFile } from 'node:child_process';
import { appendFile, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseEnv, promisify } from 'node:util';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { startHaproxy, type Proxy } from '@svc-asr/testing/haproxy.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Fleet, type Tenant } from '../service/fleet.ts';
import { keepAllCalling, type CallTally } from '../service/callers.ts';

/**
 * Upgrades a running service as docs/operations/upgrade.md says: two processes of the old version under live streams, the new
 * version's migrations, then one process after the other. Old and new serve together on one schema in between.
 * The first argument names the old version as a Git reference; further ones are settings that only it gets (NAME=VALUE).
 * Default: the last release. Without one, the old version is this one, and the new one has another migration and changed functions.
 */
const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const REHEARSAL = fileURLToPath(new URL('../upgrade/rehearsal.sql', import.meta.url));

export const about = 'an upgrade under live streams: old and new version on one schema';

export async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const [callers, streamMs, togetherMs] = short ? [3, 3_000, 4_000] : [12, 20_000, 30_000];
  const [named, ...oldSettings] = args;
  const folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
  const other = join(folder, 'other');
  const stopping = new AbortController();
  const tally: CallTally = { streams: 0, cut: 0, retries: 0 };
  try {
    const { before, after, about } = await prepareVersions(named, other);
    log(about);
    const [fleet, certificate] = await Promise.all([
      Fleet.start({ migrate: (url) => migrateTo(before, url) }),
      makeCertificate(),
    ]);
    let proxy: Proxy | null = null;
    try {
      const ports = [String(await freePort()), String(await freePort())];
      const publicPort = await freePort();
      const launch = (at: number, version: string) =>
        fleet.launch(
          {
            PORT: ports[at] ?? '',
            NODE_ID: `node-${at + 1}`,
            PUBLIC_STREAM_URL: `wss://127.0.0.1:${publicPort}`,
            TRUSTED_PROXIES: '127.0.0.1',
            ...(version === before ? parseEnv(oldSettings.join('\n')) : {}),
          },
          join(version, 'core/server/src/main.ts'),
        );
      const nodes = await Promise.all([launch(0, before), launch(1, before)]);
      const urls = nodes.map((node) => node.url);
      proxy = await startHaproxy({
        certificate,
        port: publicPort,
        nodes: [urls[0] ?? '', urls[1] ?? ''],
      });
      const adding = Array.from({ length: callers }, () => addTenant(fleet, before));
      const tenants = await Promise.all(adding);
      const calling = keepAllCalling(tenants, {
        api: urls,
        ca: certificate.cert,
        streamMs,
        tally,
        signal: stopping.signal,
      });
      await sleep(streamMs);
      const migrations = await countMigrations(fleet);
      await migrateTo(after, fleet.postgres.url);
      const migrated = (await countMigrations(fleet)) - migrations;
      log(`${migrated} migrations under streams: ${JSON.stringify(tally)}`);
      // The old version on the new schema.
      await sleep(togetherMs);
      await nodes[0]?.stop();
      nodes[0] = await launch(0, after);
      log(`old and new together: ${JSON.stringify(tally)}`);
      await sleep(togetherMs);
      await nodes[1]?.stop();
      nodes[1] = await launch(1, after);
      await sleep(streamMs / 2);
      stopping.abort();
      await calling;
      const failed = await fleet.countFailedSessions();
      return {
        passed: tally.cut === 0 && failed === 0 && migrated > 0 && tally.streams >= callers * 2,
        figures: { ...tally, failed, migrations: migrated },
      };
    } finally {
      stopping.abort();
      await proxy?.stop();
      await fleet.stop();
    }
  } finally {
    await git('worktree', 'remove', '--force', other).catch(() => null);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Checks the other version out into `other`. Returns the folders of the old and the new version. */
async function prepareVersions(
  named: string | undefined,
  other: string,
): Promise<{ before: string; after: string; about: string }> {
  const reference = named ?? (await lastRelease());
  if (reference !== null) {
    await checkOut(reference, other);
    return { before: other, after: ROOT, about: `old version: ${reference}` };
  }
  await checkOut('HEAD', other);
  await copyFile(REHEARSAL, join(other, 'core/server/sql/migrations/9999_rehearsal.sql'));
  // One changed file makes the new version replace all functions.
  await appendFile(join(other, 'core/server/sql/functions/10_guards.sql'), '-- Rehearsal.\n');
  const about = 'no release in this clone: the new version is this one with another migration';
  return { before: ROOT, after: other, about };
}

/** The last release, or null: other commits need not be complete. */
async function lastRelease(): Promise<string | null> {
  return git('describe', '--tags', '--abbrev=0', '--match', 'v*').catch(() => null);
}

async function git(...words: readonly string[]): Promise<string> {
  return (await execute('git', words, { cwd: ROOT })).stdout.trim();
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
  await execute('npx', install, { cwd: folder });
}

/** Creates an account with the old version's own commands, because its schema may differ. */
async function addTenant(fleet: Fleet, version: string): Promise<Tenant> {
  const env = {
    DATABASE_URL: fleet.postgres.url,
    API_KEY_PEPPER: fleet.apiKeyPepper.toString('base64'),
  };
  const admin = (...words: readonly string[]) => runAdmin(version, ['--json', ...words], env);
  const account: { id: string } = JSON.parse(await admin('accounts', 'create', '--name', 'Caller'));
  await admin('credit', 'grant', account.id, '10h', '--reason', 'campaign');
  const made: { id: string; key: string } = JSON.parse(await admin('keys', 'create', account.id));
  return { accountId: account.id, apiKey: made.key, keyId: made.id };
}

async function migrateTo(version: string, url: string): Promise<void> {
  await runAdmin(version, ['migrate'], { DATABASE_URL: url });
}

/** Runs svc-admin of a version. */
async function runAdmin(
  version: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const main = join(version, 'core/server/src/admin/main.ts');
  const options = { env: { ...process.env, ...env } };
  return (await execute(process.execPath, [main, ...words], options)).stdout;
}

async function countMigrations({ pool }: Fleet): Promise<number> {
  const { rows } = await pool.query<{ migrations: number }>(
    `select count(*)::int as migrations from schema_migrations where name like 'migrations/%'`,
  );
  return rows[0]?.migrations ?? 0;
}
