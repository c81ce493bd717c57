import type { BridgeOptions } from './bridge-options.ts';
import { adviceFor } from './advice.ts';
import { Call } from './call.ts';
import type { CallEvent, Notice } from './events.ts';
import { findLanguage, languageOf, type Language } from '@svc-asr/protocol/languages.ts';
import type { CallContext, CallStart, JoinedCall, RefusalCode } from './call-context.ts';
import type { BridgeMetrics, Label } from './metrics.ts';

type Protocol = Extract<Label, { protocol: string }>['protocol'];

/** A caller must say who it is within this time. */
const START_MS_MAX = 10_000;
export const CALLS_MAX = 1_000;
/** A stranger who is refused again and again must not fill the log. */
const NOTICE_EVERY_MS = 10_000;

/** All calls of the bridge: their limits, events and notices. */
export class Calls {
  readonly #options: BridgeOptions;
  readonly #metrics: BridgeMetrics;
  readonly #calls = new Set<Call>();
  /** Calls whose legs have a connection each. */
  readonly #joined = new Map<string, { readonly call: Call; connections: number }>();
  readonly #noticedAtMs = new Map<string, number>();
  #sockets = 0;

  constructor(options: BridgeOptions, metrics: BridgeMetrics) {
    this.#options = options;
    this.#metrics = metrics;
    metrics.gauge('svc_telephony_calls', () => this.#calls.size);
  }

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  get isFull(): boolean {
    return this.#sockets >= CALLS_MAX;
  }

  /** One connection of a telephone system. `close` ends it if no call starts in time. */
  connect(
    protocol: Protocol,
    input: { readonly query: URLSearchParams; readonly close: () => void },
  ): { readonly context: CallContext; readonly onClosed: () => void } {
    this.#sockets += 1;
    const startTimer = setTimeout(() => {
      this.refuse('no_start', 'A connection sent no call within 10 s and was closed.');
      input.close();
    }, START_MS_MAX);
    const context = {
      query: input.query,
      refuse: (code: RefusalCode, message: string) => this.refuse(code, message),
      startCall: (start: CallStart) => {
        clearTimeout(startTimer);
        return this.#start(protocol, start);
      },
      joinCall: (start: CallStart) => {
        clearTimeout(startTimer);
        return this.#join(protocol, start);
      },
    };
    const onClosed = (): void => {
      this.#sockets -= 1;
      clearTimeout(startTimer);
    };
    return { context, onClosed };
  }

  refuse(reason: RefusalCode, message: string): void {
    this.#metrics.count('svc_telephony_refusals_total', { reason });
    this.#notify({ level: 'warning', code: reason, message });
  }

  /** The last words of every call still become final. */
  async hangUpAll(): Promise<void> {
    for (const call of this.#calls) call.hangUp();
    await Promise.all([...this.#calls].map((call) => call.ended));
  }

  #join(protocol: Protocol, start: CallStart): JoinedCall | null {
    const language = this.#language(start);
    if (language === null) return null;
    const key = `${protocol} ${start.call}`;
    const call = this.#joined.get(key)?.call ?? this.#start(protocol, start);
    if (call === null) return null;
    const joined = this.#joined.get(key) ?? { call, connections: 0 };
    joined.connections += 1;
    this.#joined.set(key, joined);
    const leave = (): void => {
      joined.connections -= 1;
      if (joined.connections > 0) return;
      this.#joined.delete(key);
      call.hangUp();
    };
    return { call, language, leave };
  }

  #language(start: CallStart): Language | null {
    const { model } = this.#options;
    const language = start.language === null ? languageOf(model) : findLanguage(start.language);
    if (language === null) {
      this.refuse('unsupported_language', 'A call asked for a language other than ki and luo.');
    }
    return language;
  }

  #start(protocol: Protocol, start: CallStart): Call | null {
    const { client, silenceMs = 700, keyterms = [] } = this.#options;
    const language = this.#language(start);
    if (language === null) return null;
    this.#metrics.count('svc_telephony_calls_total', { protocol });
    const call = new Call({
      call: start.call,
      protocol,
      language,
      parameters: start.parameters,
      client,
      silenceMs,
      keyterms,
      onEvent: (event) => this.#onEvent(event),
    });
    this.#calls.add(call);
    void call.ended.then(() => this.#calls.delete(call));
    return call;
  }

  #onEvent(event: CallEvent): void {
    this.#options.onEvent(event);
    if (event.type === 'final') this.#metrics.count('svc_telephony_finals_total');
    if (event.type === 'warning') {
      const { call, leg, code, message } = event;
      const isLimit = code === 'concurrency_limit_exceeded';
      const reason = isLimit ? 'concurrency_limit' : 'other';
      this.#metrics.count('svc_telephony_warnings_total', { reason });
      this.#options.onNotice?.({ level: 'warning', code, message, call, leg });
    }
    if (event.type !== 'ended') return;
    const { call, leg, reason, audio_ms } = event;
    const outcome = reason === 'completed' ? 'completed' : 'failed';
    this.#metrics.count('svc_telephony_legs_ended_total', { outcome });
    this.#metrics.count('svc_telephony_audio_seconds_total', null, audio_ms / 1000);
    if (outcome === 'completed') return;
    const message = `The leg ended early. ${adviceFor(reason)}`;
    this.#options.onNotice?.({ level: 'error', code: reason, message, call, leg });
  }

  #notify(notice: Notice): void {
    const lastMs = this.#noticedAtMs.get(notice.code) ?? -Infinity;
    if (performance.now() - lastMs < NOTICE_EVERY_MS) return;
    this.#noticedAtMs.set(notice.code, performance.now());
    this.#options.onNotice?.(notice);
  }
}
