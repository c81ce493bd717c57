import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Labels are closed sets (route patterns, statuses, codes): never an id, never anything a caller sent. */
export interface Metrics {
  readonly registry: Registry;
  readonly httpSeconds: Histogram<'route' | 'method' | 'status'>;
  readonly refusals: Counter<'code'>;
  readonly databaseUp: Gauge;
  /** For a process that listens: one that does not has nothing to say about it. */
  observeKeyNews(isHearing: () => boolean): void;
  /** For a process that reserves. */
  observeFailing(count: () => number): void;
}

const NANOSECONDS = 1e9;
const LOOP_SAMPLE_MS = 20;

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  observeProcess(registry);
  return {
    registry,
    httpSeconds: new Histogram({
      name: 'svc_http_request_seconds',
      help: 'How long a request took, by route and status.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    refusals: new Counter({
      name: 'svc_http_refusals_total',
      help: 'Requests refused, by error code.',
      labelNames: ['code'],
      registers,
    }),
    databaseUp: new Gauge({
      name: 'svc_database_up',
      help: 'Whether the database answered this scrape: 1 or 0.',
      registers,
    }),
    observeKeyNews(isHearing) {
      registry.registerMetric(
        new Gauge({
          name: 'svc_key_changes_heard',
          help: 'Whether changes of keys are heard of as they happen: 1 or 0.',
          registers: [],
          collect() {
            this.set(isHearing() ? 1 : 0);
          },
        }),
      );
    },
    observeFailing(count) {
      registry.registerMetric(
        new Gauge({
          name: 'svc_accounts_failing',
          help: 'Accounts that get no new sessions because too many of theirs failed within an hour.',
          registers: [],
          collect() {
            this.set(count());
          },
        }),
      );
    },
  };
}

function observeProcess(registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: LOOP_SAMPLE_MS });
  // What is measured is the time between two samples: on an idle loop, the interval itself.
  const lagS = (sampledNs: number): number =>
    Math.max(0, sampledNs / NANOSECONDS - LOOP_SAMPLE_MS / 1000);
  delay.enable();
  registry.registerMetric(
    new Gauge({
      name: 'svc_event_loop_lag_seconds',
      help: 'Event loop lag since the last scrape.',
      labelNames: ['quantile'],
      registers: [],
      collect() {
        this.set({ quantile: '0.5' }, lagS(delay.percentile(50)));
        this.set({ quantile: '0.99' }, lagS(delay.percentile(99)));
        this.set({ quantile: '1' }, lagS(delay.max));
        delay.reset();
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'svc_resident_memory_bytes',
      help: 'Memory of this process.',
      registers: [],
      collect() {
        this.set(process.memoryUsage.rss());
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'svc_cpu_seconds',
      help: 'CPU time of this process since its start.',
      registers: [],
      collect() {
        const { user, system } = process.cpuUsage();
        this.set((user + system) / 1e6);
      },
    }),
  );
}
