import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createPool, type Pool } from '@svc-asr/server/platform/database/db.ts';
import { findViolations } from '@svc-asr/server/ledger/reports/audit.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { migrate } from '@svc-asr/server/platform/database/migrate.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import {
  startLocalPostgres,
  unprivilegedAccount,
  type LocalPostgres,
} from '@svc-asr/local/local-postgres.ts';
import { registerCampaignNode } from '../campaign-node.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { startSessionLoad, type Load, type LoadClient, type Settled } from '../session-load.ts';

const SCRIPTS = fileURLToPath(new URL('../../../../deploy/postgres/', import.meta.url));
const CLIENTS = 8;
/** Sessions settled before the base backup, up to the point, and after it. */
const SETTLED = { full: 3_000, short: 150 };
const PATIENCE_MS = 180_000;
const execute = promisify(execFile);

/**
 * Takes an encrypted base backup and archives encrypted WAL while clients settle sessions. Kills the server and restores
 * it to a point in the middle. Every charge acknowledged before that point must be there, and none that was sent after it.
 */
export const about = 'a restore to a point in time loses exactly what came after the point';

interface Charge extends Settled {
  readonly client: LoadClient;
}

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const enough = short ? SETTLED.short : SETTLED.full;
  const backup = await BackupFolder.create();
  const charges: Charge[] = [];
  const server = await startLocalPostgres({
    dataDir: backup.path('old'),
    fsync: true,
    settings: { archive_mode: 'on', archive_command: backup.archiveCommand },
  });
  let restored: LocalPostgres | undefined;
  try {
    const { clients, pointMs } = await makeHistory({ server, backup, enough, charges });
    await server.stop('immediate');
    log(`${charges.length} sessions settled; restoring to ${new Date(pointMs).toISOString()}`);
    const beganAtMs = performance.now();
    restored = await backup.restore(pointMs);
    const restoreS = Math.round((performance.now() - beganAtMs) / 100) / 10;
    const judged = await judge({ url: restored.url, clients, charges, pointMs });
    for (const line of judged.findings) log(line);
    const { lost_after_point, lost_before_point, kept_after_point, wrong_balances } =
      judged.figures;
    const wrong = lost_before_point + kept_after_point + wrong_balances + judged.findings.length;
    return {
      passed: wrong === 0 && lost_after_point > enough / 2,
      figures: { ...judged.figures, violations: judged.findings.length, restore_s: restoreS },
    };
  } finally {
    await restored?.stop('immediate');
    await server.stop('immediate');
    await backup.remove();
  }
}

/** Settles sessions before, between and after a base backup and the point. All of it is archived in the end. */
async function makeHistory(input: {
  server: LocalPostgres;
  backup: BackupFolder;
  enough: number;
  charges: Charge[];
}): Promise<{ clients: readonly LoadClient[]; pointMs: number }> {
  const { server, backup, enough, charges } = input;
  const owner = createPool({ url: server.url });
  let load: Load | undefined;
  try {
    await migrate({ url: server.url });
    load = await startSessionLoad({
      databaseUrl: server.url,
      owner,
      clients: CLIENTS,
      nodeEpoch: await registerCampaignNode(owner),
      onSettled: (client, settled) => charges.push({ ...settled, client }),
    });
    await eventually(() => charges.length >= enough, PATIENCE_MS);
    await backup.makeBaseBackup(server.url);
    const atBackup = charges.length;
    await eventually(() => charges.length >= atBackup + enough, PATIENCE_MS);
    const pointMs = Date.now();
    const atPoint = charges.length;
    await eventually(() => charges.length >= atPoint + enough, PATIENCE_MS);
    await load.finish();
    await archiveAll(owner);
    return { clients: load.clients, pointMs };
  } finally {
    await load?.stop();
    await owner.end();
  }
}

/** Compares every charge that a client saw, and every balance, with the restored database. */
async function judge(input: {
  url: string;
  clients: readonly LoadClient[];
  charges: readonly Charge[];
  pointMs: number;
}): Promise<{ findings: readonly string[]; figures: Readonly<Record<Figure, number>> }> {
  const { clients, charges, pointMs } = input;
  const db = createPool({ url: input.url, statementTimeoutMs: 60_000 });
  try {
    const { rows } = await db.query<{ id: string }>(
      `select id from sessions where status = 'completed'`,
    );
    const known = new Set(rows.map(({ id }) => id));
    const kept = charges.filter(({ sessionId }) => known.has(sessionId));
    const gone = charges.filter(({ sessionId }) => !known.has(sessionId));
    let wrongBalances = 0;
    for (const client of clients) {
      const mine = kept.filter((charge) => charge.client === client);
      const sumMs = mine.reduce((sum, { audioMs }) => sum + audioMs, 0);
      const balance = await createLedger(db).balance(client.accountId);
      if (balance?.consumedMs !== sumMs) wrongBalances += 1;
    }
    return {
      findings: await findViolations(db),
      figures: {
        transactions: await countTransactions(db),
        charges: charges.length,
        kept: kept.length,
        lost_after_point: gone.filter(({ ackedAtMs }) => ackedAtMs >= pointMs).length,
        lost_before_point: gone.filter(({ ackedAtMs }) => ackedAtMs < pointMs).length,
        kept_after_point: kept.filter(({ sentAtMs }) => sentAtMs > pointMs).length,
        wrong_balances: wrongBalances,
      },
    };
  } finally {
    await db.end();
  }
}

type Figure =
  | 'transactions'
  | 'charges'
  | 'kept'
  | 'lost_after_point'
  | 'lost_before_point'
  | 'kept_after_point'
  | 'wrong_balances';

async function countTransactions(db: Pool): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*) as count from txn');
  return rows[0]?.count ?? 0;
}

/** The last segment is archived when it is full, or when the server switches to another. */
async function archiveAll(owner: Pool): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(
    'select pg_walfile_name(pg_current_wal_lsn()) as name',
  );
  await owner.query('select pg_switch_wal()');
  await eventually(async () => {
    const archived = await owner.query<{ done: boolean }>(
      'select last_archived_wal >= $1 as done from pg_stat_archiver',
      [rows[0]?.name],
    );
    return archived.rows[0]?.done === true;
  }, PATIENCE_MS);
}

/** Waits for the end of recovery, because the server answers queries before it reaches the point. */
async function untilPromoted(url: string): Promise<void> {
  const db = createPool({ url });
  try {
    await eventually(async () => {
      const { rows } = await db.query<{ done: boolean }>('select not pg_is_in_recovery() as done');
      return rows[0]?.done === true;
    }, PATIENCE_MS);
  } finally {
    await db.end();
  }
}

/** The bundled scripts, their key pair and their archive, all readable by PostgreSQL's account. */
class BackupFolder {
  readonly #folder: string;
  #base = '';

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<BackupFolder> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-restore-'));
    await chmod(folder, 0o777);
    await mkdir(join(folder, 'kept'));
    await chmod(join(folder, 'kept'), 0o777);
    for (const script of ['base-backup.sh', 'archive-wal.sh', 'restore-wal.sh']) {
      await copyFile(join(SCRIPTS, script), join(folder, script));
    }
    const words = 'req -x509 -newkey rsa:3072 -nodes -days 2 -subj /CN=backup';
    const files = ['-keyout', join(folder, 'backup.key'), '-out', join(folder, 'backup.pem')];
    await execute('openssl', [...words.split(' '), ...files]);
    await chmod(join(folder, 'backup.key'), 0o644);
    return new BackupFolder(folder);
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  get archiveCommand(): string {
    return `${this.path('archive-wal.sh')} ${this.path('kept')} ${this.path('backup.pem')} "%p" %f`;
  }

  async makeBaseBackup(url: string): Promise<void> {
    const { stdout } = await execute(this.path('base-backup.sh'), [
      this.path('kept'),
      this.path('backup.pem'),
      url,
    ]);
    this.#base = stdout.trim();
  }

  /** Restores as docs/operations/postgres-failover.md describes. */
  async restore(pointMs: number): Promise<LocalPostgres> {
    const dataDir = this.path('new');
    await mkdir(dataDir, { mode: 0o700 });
    const decrypt = `openssl cms -decrypt -binary -inform DER -in ${this.#base} -inkey ${this.path('backup.key')}`;
    await execute('bash', ['-euo', 'pipefail', '-c', `${decrypt} | tar -x -C ${dataDir}`]);
    await writeFile(join(dataDir, 'recovery.signal'), '');
    const account = await unprivilegedAccount();
    if (account !== undefined)
      await execute('chown', ['-R', `${account.uid}:${account.gid}`, dataDir]);
    const command = `${this.path('restore-wal.sh')} ${this.path('kept')} ${this.path('backup.key')} %f "%p"`;
    const server = await startLocalPostgres({
      dataDir,
      fsync: true,
      settings: {
        restore_command: command,
        recovery_target_time: new Date(pointMs).toISOString().replace('Z', '+00'),
        recovery_target_action: 'promote',
        archive_mode: 'off',
      },
    });
    await untilPromoted(server.url);
    return server;
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
