import { serviceVersion } from '../service-version.ts';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';
import { readGauge } from './gauge.ts';

const NANOSECONDS = 1e9;
const LOOP_SAMPLE_MS = 20;

/** Metrics of every process. */
export function observeProcess(registry: Registry): void {
  observeBuild(registry);
  observeEventLoop(registry);
  readGauge(registry, {
    name: 'svc_resident_memory_bytes',
    help: 'Memory of this process, without its recognisers.',
    read: () => process.memoryUsage.rss(),
  });
  readGauge(registry, {
    name: 'svc_cpu_seconds',
    help: 'CPU time of this process since its start, without its recognisers.',
    read: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  });
}

function observeBuild(registry: Registry): void {
  new Gauge({
    name: 'svc_build_info',
    help: 'Always 1. The labels name the version of the service and of Node.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version: serviceVersion(), node: process.version }, 1);
}

function observeEventLoop(registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: LOOP_SAMPLE_MS });
  // The histogram measures the time between two samples. On an idle loop that is the interval itself.
  const lagS = (sampledNs: number): number =>
    Math.max(0, sampledNs / NANOSECONDS - LOOP_SAMPLE_MS / 1000);
  delay.enable();
  const lag = new Gauge({
    name: 'svc_event_loop_lag_seconds',
    help: 'Event loop lag since the last scrape. If it stays above 0.1, the process has too many streams.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      lag.set({ quantile: '0.5' }, lagS(delay.percentile(50)));
      lag.set({ quantile: '0.99' }, lagS(delay.percentile(99)));
      lag.set({ quantile: '1' }, lagS(delay.max));
      delay.reset();
    },
  });
}
