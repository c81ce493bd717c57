import type { Ledger } from '../ledger/ledger.ts';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Log } from '../platform/observe/log.ts';
import { startPeriodic, type PeriodicTask } from '../platform/periodic.ts';

const SWEEP_EVERY_MS = 1_000;
const BATCHES_MAX = 100;

/**
 * Closes expired reservations and the sessions of lost nodes. Several processes may run it. The ledger lets one sweep at
 * a time and decides by the database's clock when to pause after an outage.
 */
export function startSweeper(input: {
  ledger: Pick<Ledger, 'sweep'>;
  log: Log;
  registry: Registry;
}): PeriodicTask {
  const { ledger, log, registry } = input;
  const { lastRun, swept } = createSweeperMetrics(registry);
  return startPeriodic({
    everyMs: SWEEP_EVERY_MS,
    log,
    failure: 'A sweep failed. It is retried every second.',
    run: async (signal) => {
      for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
        const { failed, expired, more } = await ledger.sweep();
        if (failed > 0 || expired > 0) log.info({ failed, expired }, 'sessions swept');
        swept.inc({ outcome: 'failed' }, failed);
        swept.inc({ outcome: 'expired' }, expired);
        lastRun.setToCurrentTime();
        if (!more) return;
      }
    },
  });
}

function createSweeperMetrics(registry: Registry): {
  lastRun: Gauge;
  swept: Counter<'outcome'>;
} {
  const registers = [registry];
  return {
    lastRun: new Gauge({
      name: 'svc_sweeper_last_run_timestamp_seconds',
      help: 'When this process last swept without an error.',
      registers,
    }),
    swept: new Counter({
      name: 'svc_sweeper_sessions_total',
      help: 'Sessions that the sweeper of this process closed, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
  };
}
