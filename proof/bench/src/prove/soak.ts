import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findViolations } from '@svc-asr/server/ledger/reports/audit.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Fleet } from '../service/fleet.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { INSPECTED, liveKib } from '../service/live-memory.ts';
import { recognisersReady } from '../service/recognisers.ts';
import { SoakCaller, VANISHED, type Outcome, type SoakRecord } from '../service/soak-caller.ts';

export const about =
  '15 minutes of 300 streams with recogniser kills and database restarts: every session costs what its client saw, and nothing leaks';

const SIZE = {
  full: { lastsMs: 900_000, streams: 300, killEveryMs: 30_000, restartEveryMs: 75_000 },
  short: { lastsMs: 7_000, streams: 12, killEveryMs: 2_500, restartEveryMs: 3_500 },
};
const SESSION = {
  full: { utterances: 2, pauseMs: 8_000 },
  short: { utterances: 1, pauseMs: 500 },
};
const CHILDREN = 2;
const DATABASE_AWAY_MS = 2_000;
const CREDIT_MS = 36_000_000;
const SETTLED_WITHIN_MS = 120_000;
/** A stream that loses its recogniser may fail, uncharged, but only rarely. */
const FAILED_SHARE_MAX = 0.01;
const MEMORY_GROWTH_KIB_MAX = 4 * 1024;

interface Faults {
  kills: number;
  restarts: number;
}

/** An argument sets the length in minutes. */
export async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const { streams, ...size } = SIZE[short ? 'short' : 'full'];
  const { lastsMs: usualMs, ...every } = size;
  const lastsMs = args[0] === undefined ? usualMs : Number(args[0]) * 60_000;
  const fleet = await Fleet.start({ isDurable: true });
  try {
    const service = await fleet.launch({
      ...INSPECTED,
      ENGINE_CHILDREN: String(CHILDREN),
      // One recogniser must hold all streams while the other restarts.
      ENGINE_SLOTS_PER_CHILD: String(streams * 2),
    });
    const record: SoakRecord = { outcomes: [], surprises: [] };
    const tenants = await fleet.addTenants(streams, CREDIT_MS);
    const session = SESSION[short ? 'short' : 'full'];
    const callers = tenants.map(
      (tenant) => new SoakCaller({ service, tenant, ...session, record }),
    );
    // What every service keeps once it has served a stream is no leak.
    await Promise.all(callers.map((caller) => caller.session()));
    await untilSettled(fleet);
    const before = await holdings(service);
    const calling = Promise.all(callers.map((caller) => caller.run()));
    const faults = await injectFaults({ fleet, service, lastsMs, ...every, record, log });
    for (const caller of callers) caller.stop();
    await calling;
    await untilSettled(fleet);
    await recognisersReady(service, CHILDREN);
    const after = await holdings(service);
    const mismatches = await compare({ fleet, service, outcomes: record.outcomes });
    const violations = await findViolations(fleet.pool);
    for (const line of [...new Set(record.surprises), ...mismatches, ...violations]) log(line);
    const failed = record.outcomes.filter(({ status }) => status === 'failed').length;
    const figures = {
      streams: record.outcomes.length,
      ...faults,
      failed,
      surprises: record.surprises.length,
      mismatches: mismatches.length,
      violations: violations.length,
      children_left: after.children,
      handle_growth: after.handles - before.handles,
      memory_growth_kib: after.memoryKib - before.memoryKib,
    };
    const wrong = figures.surprises + figures.mismatches + figures.violations;
    const isEnough = figures.streams >= streams && faults.kills > 0 && faults.restarts > 0;
    const isRare = failed <= Math.ceil(figures.streams * FAILED_SHARE_MAX);
    const isClean =
      after.children === CHILDREN &&
      figures.handle_growth <= 0 &&
      figures.memory_growth_kib <= MEMORY_GROWTH_KIB_MAX;
    return { passed: wrong === 0 && isEnough && isRare && isClean, figures };
  } finally {
    await fleet.stop();
  }
}

/** What a leak would increase. TCP connections don't count: pools of callers and of the service keep some. */
async function holdings(
  service: ServiceProcess,
): Promise<{ children: number; handles: number; memoryKib: number }> {
  const folder = `/proc/${service.pid}`;
  const tcp = ['tcp', 'tcp6'].map((table) => readFileSync(`${folder}/net/${table}`, 'utf8')).join();
  const handles = readdirSync(`${folder}/fd`).filter((handle) => {
    const inode = /socket:\[(\d+)\]/.exec(readlinkSync(`${folder}/fd/${handle}`))?.[1];
    return inode === undefined || !tcp.includes(` ${inode} `);
  });
  return {
    children: service.children().length,
    handles: handles.length,
    memoryKib: await liveKib(service),
  };
}

/** Kills and hangs recognisers, and stops and restarts the database, until time is up. */
async function injectFaults(input: {
  fleet: Fleet;
  service: ServiceProcess;
  lastsMs: number;
  killEveryMs: number;
  restartEveryMs: number;
  record: SoakRecord;
  log: (line: string) => void;
}): Promise<Faults> {
  const { fleet, service, killEveryMs, restartEveryMs, record } = input;
  const faults: Faults = { kills: 0, restarts: 0 };
  const endsAtMs = performance.now() + input.lastsMs;
  async function repeat(everyMs: number, strike: () => Promise<void>): Promise<void> {
    while (performance.now() + everyMs < endsAtMs) {
      await sleep(everyMs);
      await strike();
    }
  }
  await Promise.all([
    repeat(killEveryMs, async () => {
      const children = service.children();
      const victim = children[Math.floor(Math.random() * children.length)];
      if (victim === undefined) return;
      process.kill(victim, faults.kills % 2 === 0 ? 'SIGKILL' : 'SIGSTOP');
      faults.kills += 1;
      // The next kill must leave a recogniser that can take the streams, however long the restart takes.
      await recognisersReady(service, CHILDREN, victim);
    }),
    repeat(restartEveryMs, async () => {
      await fleet.postgres.stop('immediate');
      await sleep(DATABASE_AWAY_MS);
      await fleet.restartDatabase();
      faults.restarts += 1;
      input.log(`${JSON.stringify(faults)}, ${record.outcomes.length} streams`);
    }),
  ]);
  await sleep(Math.max(0, endsAtMs - performance.now()));
  return faults;
}

async function untilSettled(fleet: Fleet): Promise<void> {
  const deadlineMs = performance.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const { rows } = await fleet.pool.query<{ open: number }>(
      `select count(*)::int as open from sessions where status in ('reserved', 'active')`,
    );
    if (rows[0]?.open === 0) return;
    if (performance.now() > deadlineMs) throw new Error(`${rows[0]?.open} sessions never ended.`);
    await sleep(100);
  }
}

interface LedgerRow {
  readonly id: string;
  readonly status: string;
  readonly billable_ms: number;
}

/** Describes each session whose ledger entry differs from the client's record, with all that is known of it. */
async function compare(input: {
  fleet: Fleet;
  service: ServiceProcess;
  outcomes: readonly Outcome[];
}): Promise<string[]> {
  const { fleet, service, outcomes } = input;
  const { rows } = await fleet.pool.query<LedgerRow>(
    'select * from sessions where id = any($1::uuid[])',
    [outcomes.map(({ sessionId }) => sessionId)],
  );
  const ledger = new Map(rows.map((row) => [row.id, row]));
  const ended = endings(service);
  return outcomes.flatMap((outcome) => {
    const { sessionId, status, billedMs, seen } = outcome;
    const row = ledger.get(sessionId);
    // The server may have failed the stream before it noticed that the client was gone.
    const isFailed = seen === VANISHED && ended.get(sessionId) === 'failed';
    const [expected, expectedMs] = isFailed ? ['failed', 0] : [status, billedMs];
    if (row?.status === expected && row.billable_ms === expectedMs) return [];
    const logged = service.lines.filter((line) => line.includes(sessionId));
    const told = `A client saw ${status} ${billedMs} ms (${seen})`;
    return [`${told}, the ledger has ${JSON.stringify(row)}. Log:\n${logged.join('\n')}`];
  });
}

/** The status with which the server ended each stream, from its log. */
function endings({ lines }: ServiceProcess): Map<string, string> {
  const statuses = new Map<string, string>();
  for (const line of lines) {
    if (!line.includes('"stream ended"')) continue;
    const { sessionId, status }: { sessionId: string; status: string } = JSON.parse(line);
    statuses.set(sessionId, status);
  }
  return statuses;
}
