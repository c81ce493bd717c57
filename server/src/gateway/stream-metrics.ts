import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Labels are closed sets: reasons, codes, statuses. Never an id, never anything that was said. */
export interface StreamMetrics {
  ready(ms: number): void;
  firstDelta(ms: number): void;
  final(ms: number): void;
  accepted(ms: number): void;
  billed(ms: number): void;
  ended(ending: { readonly status: string; readonly reason: string }): void;
  refused(code: string): void;
}

/** Gauges are read when somebody looks, not written when something changes. */
export interface StreamGauges {
  readonly openStreams: () => number;
  readonly unsettledCloses: () => number;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 10];

export function createStreamMetrics(registry: Registry, gauges: StreamGauges): StreamMetrics {
  const registers = [registry];
  const histogram = (name: string, help: string): Histogram =>
    new Histogram({ name, help, buckets: SECONDS, registers });
  const readySeconds = histogram('svc_stream_ready_seconds', 'From the upgrade to ready.');
  const deltaSeconds = histogram(
    'svc_stream_first_delta_seconds',
    'From ready to the first delta.',
  );
  const finalSeconds = histogram('svc_stream_final_seconds', 'From a flush to its final.');
  const audio = new Counter({
    name: 'svc_stream_audio_ms_total',
    help: 'Audio of ended streams: accepted as sent, billed as rounded up and charged.',
    labelNames: ['kind'],
    registers,
  });
  const endings = new Counter({
    name: 'svc_stream_endings_total',
    help: 'Streams that ended, by status and reason. Failed ones are our fault and bill nothing.',
    labelNames: ['status', 'reason'],
    registers,
  });
  const refusals = new Counter({
    name: 'svc_stream_refusals_total',
    help: 'Upgrades refused, by error code.',
    labelNames: ['code'],
    registers,
  });
  gauge('svc_streams_open', 'Streams open now.', gauges.openStreams);
  gauge(
    'svc_closes_unsettled',
    'Ended streams that the database has not settled yet.',
    gauges.unsettledCloses,
  );

  function gauge(name: string, help: string, read: () => number): void {
    const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(read()) });
  }
  return {
    ready: (ms) => readySeconds.observe(ms / 1000),
    firstDelta: (ms) => deltaSeconds.observe(ms / 1000),
    final: (ms) => finalSeconds.observe(ms / 1000),
    accepted: (ms) => audio.inc({ kind: 'accepted' }, ms),
    billed: (ms) => audio.inc({ kind: 'billed' }, ms),
    ended: ({ status, reason }) => endings.inc({ status, reason }),
    refused: (code) => refusals.inc({ code }),
  };
}
