import { AudioConverter, VoiceGate, type SampleEncoding } from '@svc-asr/sdk/audio';
import type { SvcClient, SvcError } from '@svc-asr/sdk';
import { openStream, type SvcStream, type StreamListeners } from '@svc-asr/sdk/stream';
import { adviceFor } from './advice.ts';
import type { LegEvent } from './events.ts';
import { MODELS, type Language } from '@svc-asr/protocol/languages.ts';
import { reserveSession } from './reserve-session.ts';

type LegBody = LegEvent extends infer E
  ? E extends LegEvent
    ? Omit<E, 'call' | 'leg' | 'time'>
    : never
  : never;

export interface LegOptions {
  readonly call: string;
  readonly leg: string;
  readonly protocol: string;
  readonly language: Language;
  readonly parameters: Readonly<Record<string, string>>;
  readonly encoding: SampleEncoding;
  readonly sampleRateHz: number;
  readonly silenceMs: number;
  readonly client: SvcClient;
  readonly onEvent: (event: LegEvent) => void;
}

const DIGITS = /^[0-9A-D*#]{1,32}$/i;
const SAMPLES_PER_MS = 16;

/**
 * One direction of a call: its audio in, labelled transcripts out. The service ends an utterance when the speaker
 * pauses, also on a noisy line. Long silence is not sent, so an utterance before it is flushed.
 */
export class CallLeg {
  readonly #options: LegOptions;
  readonly #converter: AudioConverter;
  readonly #gate: VoiceGate;
  readonly #stream: SvcStream;
  readonly #startedAtMs = Date.now();
  readonly #warned = new Set<string>();
  #audioMs = 0;
  #isSpeech = false;
  #hungUp = false;

  constructor(options: LegOptions) {
    this.#options = options;
    const { encoding, sampleRateHz } = options;
    this.#converter = new AudioConverter({ encoding, sampleRateHz });
    this.#gate = new VoiceGate({ holdMs: options.silenceMs });
    this.#stream = openStream({
      getSession: reserveSession({
        client: options.client,
        model: MODELS[options.language],
        onWaiting: (error) => this.#warn(error),
      }),
      endpointing: { silenceMs: options.silenceMs },
    });
    const { protocol, language, parameters } = options;
    this.#emit({ type: 'started', protocol, language, parameters });
    this.#stream.on('delta', ({ text }) => {
      if (text !== '') this.#emit({ type: 'interim', text });
    });
    this.#stream.on('final', (final) => this.#onFinal(final));
    this.#stream.on('waiting', ({ error }) => this.#warn(error));
    this.#stream.on('close', ({ reason }) =>
      this.#emit({ type: 'ended', reason, audio_ms: Math.round(this.#audioMs) }),
    );
  }

  /** Resolves when everything is final and reported. */
  get ended(): Promise<unknown> {
    return this.#stream.closed;
  }

  push(audio: Uint8Array): void {
    if (!this.#hungUp) this.#processAudio(this.#converter.push(audio));
  }

  dtmf(digit: string): void {
    if (!DIGITS.test(digit)) return;
    this.#emit({ type: 'dtmf', digit, at_ms: Math.round(this.#audioMs) });
  }

  /** The caller hung up. The last words still become final. */
  hangUp(): void {
    if (this.#hungUp) return;
    this.#hungUp = true;
    this.#processAudio(this.#converter.end());
    this.#sendAll(this.#gate.end());
    // A stream that fails reports its reason as `ended`.
    void this.#stream.finish().catch(() => undefined);
  }

  #processAudio(samples: Int16Array): void {
    this.#audioMs += samples.length / SAMPLES_PER_MS;
    this.#sendAll(this.#gate.push(samples));
    if (this.#isSpeech && !this.#gate.isOpen) {
      this.#isSpeech = false;
      void this.#stream.flush();
    }
  }

  #sendAll(outputs: ReturnType<VoiceGate['push']>): void {
    for (const output of outputs) {
      if (output.do === 'skip') this.#stream.skip(output.ms);
      else {
        this.#isSpeech = true;
        // A call cannot be slowed down: unsent audio waits in the stream.
        void this.#stream.write(output.samples);
      }
    }
  }

  #onFinal({ text, start_ms, end_ms, confidence, words }: StreamListeners['final']): void {
    if (text === '') return;
    this.#emit({
      type: 'final',
      text,
      start_ms,
      end_ms,
      start_time: this.#timeOf(start_ms),
      end_time: this.#timeOf(end_ms),
      confidence: confidence ?? null,
      words: words.map((word) => ({ ...word, confidence: word.confidence ?? null })),
    });
  }

  /** Once per reason: a leg may wait for its session many times. */
  #warn({ code }: SvcError): void {
    if (this.#warned.has(code)) return;
    this.#warned.add(code);
    this.#emit({ type: 'warning', code, message: adviceFor(code) });
  }

  /** A call is sent as it is spoken, so its audio time and the wall clock run together. */
  #timeOf(ms: number): string {
    return new Date(this.#startedAtMs + ms).toISOString();
  }

  #emit(body: LegBody): void {
    const { call, leg, onEvent } = this.#options;
    onEvent({ call, leg, time: new Date().toISOString(), ...body });
  }
}
