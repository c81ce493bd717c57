import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '@svc-asr/runtime/listen.ts';
import { Alertmanager } from '@svc-asr/testing/alertmanager.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import {
  readRules,
  shortConfiguration,
  shortenWindows,
} from '@svc-asr/testing/monitoring-files.ts';
import { Prometheus } from '@svc-asr/testing/prometheus.ts';
import type { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Call } from '../service/call.ts';
import { Fleet, reserveSession, type Tenant } from '../service/fleet.ts';
import { openStream } from '../service/open-stream.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/**
 * Injects faults into a running service that Prometheus scrapes with our rules. Every alert must fire
 * and resolve, and Alertmanager must send a notification for both.
 */
export const about =
  'faults in a running service: Prometheus alerts for each, Alertmanager notifies, and both resolve';

const SLOTS = 2;
const TOKEN = 'look';
const MODEL = 'svc-asr-kikuyu-v1';
const WITHIN_MS = 60_000;

interface Scene {
  readonly fleet: Fleet;
  readonly service: ServiceProcess;
  readonly tenants: readonly Tenant[];
  readonly prometheus: Prometheus;
  readonly alertmanager: Alertmanager;
}

interface Fault {
  readonly alerts: readonly string[];
  /** Returns a function that repairs the fault. */
  inject(scene: Scene): Promise<() => Promise<void>>;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'every slot in use': { alerts: ['SvcNoCapacity', 'SvcSloBurnFast streams'], inject: fillSlots },
  'the database stops': {
    alerts: ['SvcDatabaseDown', 'SvcSweeperNotRunning', 'SvcSloBurnFast requests'],
    inject: stopDatabase,
  },
  'recognisers die repeatedly': {
    alerts: ['SvcRecogniserRestartLoop'],
    inject: killRecognisers,
  },
};

export async function run({ log }: CampaignOptions): Promise<CampaignResult> {
  const fleet = await Fleet.start({ isDurable: true });
  const audit = await serveAudit();
  const tally = { faults: 0, alerts: 0, fired: 0, resolved: 0, false_alerts: 0, notified: 0 };
  const alertmanager = await Alertmanager.start();
  let scene: Scene | null = null;
  try {
    scene = await setUp({ fleet, audit, alertmanager });
    tally.false_alerts = (await scene.prometheus.firing()).size;
    for (const [name, fault] of Object.entries(FAULTS)) {
      const { fired, resolved, notified } = await observe(scene, fault);
      tally.faults += 1;
      tally.alerts += fault.alerts.length;
      tally.fired += fired;
      tally.resolved += resolved;
      tally.notified += notified;
      log(
        `${name}: ${fault.alerts.join(', ')}: ${fired} fired, ${resolved} resolved, ${notified} notified`,
      );
    }
    const { alerts, fired, resolved, notified } = tally;
    const passed =
      [fired, resolved, notified].every((count) => count === alerts) && tally.false_alerts === 0;
    return { passed, figures: tally };
  } finally {
    await scene?.prometheus.stop();
    await alertmanager.stop();
    audit.server.close();
    await fleet.stop();
  }
}

async function setUp(input: {
  fleet: Fleet;
  audit: { target: string };
  alertmanager: Alertmanager;
}): Promise<Scene> {
  const { fleet, audit, alertmanager } = input;
  const service = await fleet.launch({
    METRICS_TOKEN: TOKEN,
    ENGINE_SLOTS_PER_CHILD: String(SLOTS),
    DRAIN_SECONDS: '0',
  });
  const tenants = await fleet.addTenants(SLOTS + 1, 600_000);
  const rules = Object.entries(await readRules()).map(([name, text]) => [
    name,
    shortenWindows(text),
  ]);
  const prometheus = await Prometheus.start({
    'prometheus.yml': shortConfiguration(
      {
        'svc-asr': { target: new URL(service.url).host, token: TOKEN },
        'svc-audit': { target: audit.target },
      },
      alertmanager.target,
    ),
    ...Object.fromEntries(rules),
  });
  const scene = { fleet, service, tenants, prometheus, alertmanager };
  await until(async () => (await prometheus.query('up == 1')).length === 2);
  // Alerts on missing metrics fire until the first samples arrive.
  await until(async () => (await prometheus.query('svc:slo_objective')).length > 0);
  await until(async () => (await prometheus.firing()).size === 0);
  return scene;
}

interface Observed {
  readonly fired: number;
  readonly resolved: number;
  /** Alerts with two notifications: when they fired and when they resolved. */
  readonly notified: number;
}

async function observe(scene: Scene, fault: Fault): Promise<Observed> {
  const seen = new Set<string>();
  const hasNotified = (status: 'firing' | 'resolved'): boolean =>
    fault.alerts.every((alert) => scene.alertmanager.hasNotified('on-call', status, alert));
  // Watched from the start: on a slow machine an alert can fire and resolve while the fault is still being injected. A
  // fault lasts until Alertmanager has notified: an alert that resolves before its group is sent is never notified.
  const watching = until(async () => {
    for (const alert of await scene.prometheus.firing()) seen.add(alert);
    return fault.alerts.every((alert) => seen.has(alert)) && hasNotified('firing');
  }).catch(() => {});
  const repair = await fault.inject(scene);
  await watching;
  await repair();
  let firing = new Set<string>();
  await until(async () => {
    firing = await scene.prometheus.firing();
    return firing.size === 0;
  }).catch(() => {});
  await until(async () => hasNotified('resolved')).catch(() => {});
  const fired = fault.alerts.filter((alert) => seen.has(alert));
  return {
    fired: fired.length,
    resolved: fired.filter((alert) => !firing.has(alert)).length,
    notified: fault.alerts.filter((alert) =>
      (['firing', 'resolved'] as const).every((status) =>
        scene.alertmanager.hasNotified('on-call', status, alert),
      ),
    ).length,
  };
}

/** Fills every slot and keeps trying to open one more stream. */
async function fillSlots({ service, tenants }: Scene): Promise<() => Promise<void>> {
  const streams: StreamClient[] = [];
  for (const tenant of tenants.slice(0, SLOTS)) {
    streams.push((await Call.open(service, tenant, { model: MODEL })).client);
  }
  const [last] = tenants.slice(SLOTS);
  if (last === undefined) throw new Error('The campaign needs one more tenant than slots.');
  const session = await reserveSession(service.url, last, { model: MODEL });
  const stop = repeat(() => openStream(service.streamUrl, session));
  return async () => {
    await stop();
    for (const stream of streams) await stream.close();
  };
}

async function stopDatabase({ fleet, service, tenants }: Scene): Promise<() => Promise<void>> {
  const headers = { authorization: `Bearer ${tenants[0]?.apiKey}` };
  const stop = repeat(() => fetch(`${service.url}/v1/usage`, { headers }));
  await fleet.postgres.stop('immediate');
  return async () => {
    await fleet.restartDatabase();
    await stop();
  };
}

/** Kills a recogniser four times, each time after the previous one was replaced. */
async function killRecognisers({ service }: Scene): Promise<() => Promise<void>> {
  const killed = new Set<number>();
  while (killed.size < 4) {
    const pid = service.children().find((child) => !killed.has(child));
    if (pid !== undefined && service.lines.filter(isReadyNotice).length > killed.size) {
      process.kill(pid, 'SIGKILL');
      killed.add(pid);
    } else await sleep(50);
  }
  return async () => {};
}

function isReadyNotice(line: string): boolean {
  return line.includes('A recogniser is ready');
}

/** Repeats `work` and ignores its errors. Returns a stop function. */
function repeat(work: () => Promise<unknown>): () => Promise<void> {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await work().catch(() => {});
      await sleep(50);
    }
  })();
  return async () => {
    stopping.abort();
    await running;
  };
}

/** Serves the metrics file of a clean audit, as node_exporter would. */
async function serveAudit(): Promise<{ server: Server; target: string }> {
  const server = createServer((_, response) => {
    const nowS = Math.round(Date.now() / 1000);
    response.end(
      `svc_ledger_audit_timestamp_seconds ${nowS}\nsvc_ledger_audit_violations{invariant="x"} 0\n`,
    );
  });
  const port = await listen(server);
  return { server, target: `127.0.0.1:${port}` };
}

function until(fact: () => Promise<boolean>): Promise<void> {
  return eventually(fact, WITHIN_MS, 100);
}
