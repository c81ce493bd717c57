import { TextMetrics } from '@svc-asr/runtime/text-metrics.ts';
import type { RefusalReason } from './refusal.ts';

const COUNTERS = {
  svc_compatible_requests_total: 'Requests and sockets that were admitted, by door.',
  svc_compatible_refusals_total: 'Requests and sockets that were refused, by reason.',
  svc_compatible_audio_seconds_total:
    'Audio of ended streams, by door. Skipped silence is included.',
  svc_compatible_billed_seconds_total: 'Audio that the service charged for, by door.',
  svc_compatible_waits_total: 'Requests that had to wait for a session.',
  svc_compatible_decodes_total: 'Decoded files and sockets, by outcome.',
} as const;
const GAUGES = {
  svc_compatible_connections: 'Requests and sockets now.',
  svc_compatible_streams: 'Streams to the service now.',
  svc_compatible_decoders: 'ffmpeg processes now.',
  svc_compatible_disk_bytes: 'Bytes of files on the disk now.',
  svc_compatible_draining: '1 while the program accepts nothing new.',
} as const;

export type DoorName = 'models' | 'transcriptions' | 'listen' | 'flux' | 'realtime';

type Counter = keyof typeof COUNTERS;
type Gauge = keyof typeof GAUGES;

/** `limit`: too long or too large. `aborted`: the reader stopped. */
export type DecodeOutcome = 'decoded' | 'unreadable' | 'limit' | 'aborted';

export type Label =
  | { readonly door: DoorName }
  | { readonly reason: RefusalReason }
  | { readonly outcome: DecodeOutcome };

export class CompatibleMetrics extends TextMetrics<Counter, Gauge, Label> {
  constructor() {
    super({ counters: COUNTERS, gauges: GAUGES });
  }
}
