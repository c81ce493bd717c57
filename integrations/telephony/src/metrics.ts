import type { RefusalCode } from './media-socket.ts';

/** Counters and gauges in Prometheus' text format. Labels are closed sets: never a call, never anything a caller sent. */
const COUNTERS = {
  svc_telephony_calls_total: 'Calls that started, by telephone system.',
  svc_telephony_refusals_total: 'Calls that were refused, by reason.',
  svc_telephony_legs_ended_total: 'Legs that ended, by outcome.',
  svc_telephony_finals_total: 'Finals.',
  svc_telephony_warnings_total: 'Legs that had to wait for a session, by reason.',
  svc_telephony_audio_seconds_total: 'Audio of ended legs.',
  svc_telephony_events_dropped_total: 'Events that a full or failing sink lost, by sink.',
  svc_telephony_webhook_requests_total: 'Requests to the webhook, by outcome.',
} as const;
const GAUGES = {
  svc_telephony_calls: 'Calls now.',
  svc_telephony_webhook_queue: 'Events that wait for the webhook.',
  svc_telephony_draining: '1 while the bridge accepts no new calls.',
} as const;

type Counter = keyof typeof COUNTERS;
type Gauge = keyof typeof GAUGES;

export type Label =
  | { readonly protocol: 'twilio' | 'freeswitch' | 'jambonz' | 'audiosocket' }
  | { readonly reason: RefusalCode | 'concurrency_limit' | 'other' }
  | { readonly outcome: 'completed' | 'failed' | 'delivered' | 'retried' | 'given_up' }
  | { readonly sink: 'webhook' | 'output' };

export class BridgeMetrics {
  readonly #counts = new Map<string, number>();
  readonly #gauges = new Map<Gauge, () => number>();

  count(name: Counter, label: Label | null = null, by = 1): void {
    const series = name + written(label);
    this.#counts.set(series, (this.#counts.get(series) ?? 0) + by);
  }

  gauge(name: Gauge, read: () => number): void {
    this.#gauges.set(name, read);
  }

  text(): string {
    const counters = Object.entries(COUNTERS).map(([name, help]) => {
      const lines = [...this.#counts].filter(([series]) => series.split('{')[0] === name);
      return block(name, { help, type: 'counter', lines });
    });
    const gauges = Object.entries(GAUGES).map(([name, help]) => {
      const lines = [...this.#gauges].filter(([gauge]) => gauge === name);
      return block(name, { help, type: 'gauge', lines: lines.map(([, read]) => [name, read()]) });
    });
    return [...counters, ...gauges].join('');
  }
}

function written(label: Label | null): string {
  if (label === null) return '';
  const pairs = Object.entries(label).map(([name, value]) => `${name}="${value}"`);
  return `{${pairs.join(',')}}`;
}

function block(
  name: string,
  input: { help: string; type: string; lines: readonly (readonly [string, number])[] },
): string {
  const head = `# HELP ${name} ${input.help}\n# TYPE ${name} ${input.type}\n`;
  return head + input.lines.map(([series, value]) => `${series} ${value}\n`).join('');
}
