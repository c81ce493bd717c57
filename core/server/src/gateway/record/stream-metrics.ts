import { Counter, Histogram, type Registry } from 'prom-client';
import { readGauge } from '../../platform/observe/gauge.ts';

/** Labels are closed sets: reasons, codes, statuses. Never an id or text. */
export interface StreamMetrics {
  ready(ms: number): void;
  /** The stream ended before it was ready. */
  neverReady(status: string): void;
  firstDelta(ms: number): void;
  deltaLag(ms: number): void;
  final(ms: number): void;
  accepted(ms: number): void;
  billed(ms: number): void;
  ended(ending: { readonly status: string; readonly reason: string }): void;
  refused(code: string): void;
}

/** Gauges are read at each scrape, not updated on each change. */
export interface StreamGauges {
  readonly openStreams: () => number;
  readonly waitingStreams: () => number;
  /** Accepted audio of all streams, open and ended. */
  readonly liveAudioMs: () => number;
  readonly slots: () => { readonly active: number; readonly capacity: number };
  readonly isLeaseHeld: () => boolean;
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
    'From ready to the first delta, including the time until someone speaks.',
  );
  const lagSeconds = histogram(
    'svc_stream_delta_lag_seconds',
    'From the arrival of audio to the delta that covers it. Audio sent faster than real time counts as arriving in real time.',
  );
  const neverReady = new Counter({
    name: 'svc_stream_never_ready_total',
    help: 'Streams that ended before they were ready, by status.',
    labelNames: ['status'],
    registers,
  });
  const finalSeconds = histogram(
    'svc_stream_final_seconds',
    'From a flush to its final. Flushes without audio are not counted.',
  );
  const audio = new Counter({
    name: 'svc_stream_audio_ms_total',
    help: 'Audio of ended streams: accepted as sent, billed as rounded up and charged.',
    labelNames: ['kind'],
    registers,
  });
  const endings = new Counter({
    name: 'svc_stream_endings_total',
    help: 'Streams that ended, by status and reason. Failed ones are our fault and are not billed.',
    labelNames: ['status', 'reason'],
    registers,
  });
  const refusals = new Counter({
    name: 'svc_stream_refusals_total',
    help: 'Refused upgrades, by error code.',
    labelNames: ['code'],
    registers,
  });
  const live: Counter = new Counter({
    name: 'svc_stream_live_audio_ms_total',
    help: 'Accepted audio, counted while streams are open.',
    registers,
    collect() {
      live.reset();
      live.inc(gauges.liveAudioMs());
    },
  });
  observeGauges(registry, gauges);
  return {
    ready: (ms) => readySeconds.observe(ms / 1000),
    neverReady: (status) => neverReady.inc({ status }),
    deltaLag: (ms) => lagSeconds.observe(ms / 1000),
    firstDelta: (ms) => deltaSeconds.observe(ms / 1000),
    final: (ms) => finalSeconds.observe(ms / 1000),
    accepted: (ms) => audio.inc({ kind: 'accepted' }, ms),
    billed: (ms) => audio.inc({ kind: 'billed' }, ms),
    ended: ({ status, reason }) => endings.inc({ status, reason }),
    refused: (code) => refusals.inc({ code }),
  };
}

function observeGauges(registry: Registry, gauges: StreamGauges): void {
  const gauge = (name: string, help: string, read: () => number): void =>
    readGauge(registry, { name, help, read });
  gauge('svc_streams_open', 'Open streams.', gauges.openStreams);
  gauge('svc_streams_waiting', 'Open streams that wait for a recogniser.', gauges.waitingStreams);
  gauge(
    'svc_closes_unsettled',
    'Ended streams that the database has not settled yet.',
    gauges.unsettledCloses,
  );
  gauge('svc_node_slots', 'Streams that this node can serve.', () => gauges.slots().capacity);
  gauge(
    'svc_node_slots_used',
    'Streams that this node serves. With ENGINE_ADDRESSES several gateways share the engine nodes: use svc_engine_slots_used.',
    () => gauges.slots().active,
  );
  gauge(
    'svc_lease_held',
    '1 while this node holds its lease. Without it the node takes no new streams.',
    () => Number(gauges.isLeaseHeld()),
  );
}
