import type { SampleEncoding } from '@svc-asr/sdk/audio';
import type { SvcClient } from '@svc-asr/sdk';
import { CallLeg } from './call-leg.ts';
import type { CallEvent, CallSummary, LegEvent } from './events.ts';
import type { Language } from '@svc-asr/protocol/languages.ts';

const TURNS_MAX = 10_000;

export interface CallOptions {
  readonly call: string;
  readonly protocol: string;
  readonly language: Language;
  readonly parameters: Readonly<Record<string, string>>;
  readonly client: SvcClient;
  readonly silenceMs: number;
  readonly keyterms: readonly string[];
  readonly onEvent: (event: CallEvent) => void;
}

export interface LegFormat {
  readonly leg: string;
  /** Default: the call's. */
  readonly language?: Language;
  readonly encoding: SampleEncoding;
  readonly sampleRateHz: number;
  /** Receives the leg's events, besides the bridge's own listener. */
  readonly onEvent?: (event: LegEvent) => void;
}

/** The legs of one telephone call, and its transcript. */
export class Call {
  /** Resolves after the last event. */
  readonly ended: Promise<void>;
  readonly #options: CallOptions;
  readonly #startedTime = new Date().toISOString();
  readonly #legs: CallLeg[] = [];
  readonly #endings: CallSummary['legs'][number][] = [];
  readonly #turns: CallSummary['turns'][number][] = [];
  #finish: () => void = () => undefined;
  #isOver = false;
  #isTruncated = false;

  constructor(options: CallOptions) {
    this.#options = options;
    const hungUp = new Promise<void>((resolve) => (this.#finish = resolve));
    this.ended = this.#reportAfter(hungUp);
  }

  get language(): Language {
    return this.#options.language;
  }

  openLeg(format: LegFormat): CallLeg {
    if (this.#isOver) throw new Error('The call is over.');
    const { onEvent: emit, ...shared } = this.#options;
    const { onEvent, ...audio } = format;
    const leg = new CallLeg({
      ...shared,
      ...audio,
      onEvent: (event) => {
        this.#record(event);
        onEvent?.(event);
        emit(event);
      },
    });
    this.#legs.push(leg);
    return leg;
  }

  /** The last words of every leg still become final. */
  hangUp(): void {
    this.#isOver = true;
    for (const leg of this.#legs) leg.hangUp();
    this.#finish();
  }

  async #reportAfter(hungUp: Promise<void>): Promise<void> {
    await hungUp;
    await Promise.all(this.#legs.map((leg) => leg.ended));
    this.#options.onEvent(this.#summary());
  }

  #record(event: LegEvent): void {
    if (event.type === 'ended') {
      const { leg, reason, audio_ms } = event;
      this.#endings.push({ leg, reason, audio_ms });
    }
    if (event.type !== 'final') return;
    const { leg, text, start_ms, end_ms, start_time, end_time, confidence } = event;
    if (this.#turns.length < TURNS_MAX) {
      this.#turns.push({ leg, text, start_ms, end_ms, start_time, end_time, confidence });
    } else this.#isTruncated = true;
  }

  #summary(): CallSummary {
    const { call, protocol, language, parameters } = this.#options;
    return {
      type: 'call_ended',
      call,
      time: new Date().toISOString(),
      started_time: this.#startedTime,
      protocol,
      language,
      parameters,
      legs: this.#endings,
      turns: this.#turns.toSorted((a, b) => (a.start_time < b.start_time ? -1 : 1)),
      truncated: this.#isTruncated,
    };
  }
}
