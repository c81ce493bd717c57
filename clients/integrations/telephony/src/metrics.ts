import { TextMetrics } from '@svc-asr/runtime/text-metrics.ts';
import type { RefusalCode } from './call-context.ts';

const COUNTERS = {
  svc_telephony_calls_total: 'Calls that started, by telephone system.',
  svc_telephony_refusals_total: 'Calls and recordings that were refused, by reason.',
  svc_telephony_recordings_total: 'Recordings that were done, by outcome.',
  svc_telephony_legs_ended_total: 'Legs that ended, by outcome.',
  svc_telephony_finals_total: 'Finals.',
  svc_telephony_warnings_total: 'Warnings of legs, by reason.',
  svc_telephony_audio_seconds_total: 'Audio of ended legs and of recordings.',
  svc_telephony_events_dropped_total: 'Events that a full or failing sink lost, by sink.',
  svc_telephony_webhook_requests_total: 'Requests to the webhook, by outcome.',
} as const;
const GAUGES = {
  svc_telephony_calls: 'Calls now.',
  svc_telephony_recordings: 'Recordings that are transcribed or wait.',
  svc_telephony_webhook_queue: 'Events that wait for the webhook.',
  svc_telephony_draining: '1 while the bridge accepts no new calls.',
} as const;

type Counter = keyof typeof COUNTERS;
type Gauge = keyof typeof GAUGES;

export type Label =
  | { readonly protocol: 'twilio' | 'freeswitch' | 'jambonz' | 'asterisk' | 'audiosocket' }
  | { readonly reason: RefusalCode | 'concurrency_limit' | 'other' }
  | { readonly outcome: 'completed' | 'failed' | 'delivered' | 'retried' | 'given_up' }
  | { readonly sink: 'webhook' | 'output' };

export class BridgeMetrics extends TextMetrics<Counter, Gauge, Label> {
  constructor() {
    super({ counters: COUNTERS, gauges: GAUGES });
  }
}
