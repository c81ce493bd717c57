import { readFileSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { EngineHealth } from '../engine.ts';
import { DECODE_BOUNDS, type DecodeFigures } from './decode-figures.ts';
import type { SherpaEngine } from './pool.ts';
import { readProcessState } from './watchdog.ts';
import { registerSnapshotHistogram } from './snapshot-histogram.ts';

const HISTOGRAMS = {
  batchStreams: ['svc_engine_batch_streams', 'Streams decoded together.'],
  waitSeconds: [
    'svc_engine_decode_wait_seconds',
    'From when a stream had something to decode to the start of its decode.',
  ],
  decodeSeconds: ['svc_engine_decode_seconds', 'One decode of one batch.'],
} as const satisfies Record<keyof DecodeFigures, readonly [string, string]>;

/**
 * Metrics of a process with its own recognisers: a single box or an engine node. All are read at the scrape. `health`
 * counts the slots in use; an engine node also counts those of idle streams.
 */
export function observeRecognisers(
  registry: Registry,
  engine: SherpaEngine,
  health: () => EngineHealth = () => engine.health(),
): void {
  const registers = [registry];
  function gauge(name: string, help: string, read: () => number): void {
    const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(read()) });
  }
  gauge(
    'svc_engine_slots',
    'Streams that the recognisers can serve.',
    () => engine.health().capacity,
  );
  gauge(
    'svc_engine_slots_used',
    'Open streams that hold a slot, idle ones included. Scale on svc_engine_slots_used / svc_engine_slots.',
    () => health().active,
  );
  gauge('svc_engine_ready', '1 while a recogniser can recognise.', () =>
    Number(engine.health().ready),
  );
  gauge(
    'svc_engine_lag_seconds',
    'How long the oldest complete chunk has waited.',
    () => engine.health().lagMs / 1000,
  );
  gauge('svc_engine_recognisers', 'Recogniser processes that serve.', () => pids().length);
  gauge('svc_engine_recogniser_resident_bytes', 'Memory of all recogniser processes.', () =>
    pids().reduce((sum, pid) => sum + residentBytes(pid), 0),
  );
  const cpu = new ProcessTime();
  const cpuSeconds: Counter = new Counter({
    name: 'svc_engine_recogniser_cpu_seconds_total',
    help: 'CPU time of the recogniser processes, including those that ended.',
    registers,
    collect() {
      cpuSeconds.reset();
      cpuSeconds.inc(cpu.totalMs(pids()) / 1000);
    },
  });
  const restarts = new Counter({
    name: 'svc_engine_recogniser_restarts_total',
    help: 'Recogniser processes that were lost and replaced, by reason.',
    labelNames: ['reason'],
    registers,
    collect() {
      restarts.reset();
      for (const [reason, times] of Object.entries(engine.restarts())) {
        restarts.inc({ reason }, times);
      }
    },
  });
  for (const name of ['batchStreams', 'waitSeconds', 'decodeSeconds'] as const) {
    registerSnapshotHistogram({
      name: HISTOGRAMS[name][0],
      help: HISTOGRAMS[name][1],
      bounds: DECODE_BOUNDS[name],
      registry,
      read: () => engine.decodeFigures()[name],
    });
  }
  function pids(): number[] {
    return engine.children().map(({ pid }) => pid);
  }
}

/** Adds up the CPU time of processes, and keeps the last known time of those that ended. */
class ProcessTime {
  readonly #lastMs = new Map<number, number>();
  #endedMs = 0;

  totalMs(pids: readonly number[]): number {
    for (const [pid, ms] of this.#lastMs) {
      if (pids.includes(pid)) continue;
      this.#endedMs += ms;
      this.#lastMs.delete(pid);
    }
    for (const pid of pids) {
      const seen = readProcessState(pid);
      if (seen !== null) this.#lastMs.set(pid, seen.cpuMs);
    }
    return [...this.#lastMs.values()].reduce((sum, ms) => sum + ms, this.#endedMs);
  }
}

/** 0 where /proc is missing. */
function residentBytes(pid: number): number {
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return Number(kib ?? 0) * 1024;
  } catch {
    return 0;
  }
}
