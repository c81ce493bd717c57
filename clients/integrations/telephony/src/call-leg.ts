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
  readonly keyterms: readonly string[];
  readonly client: SvcClient;
  readonly onEvent: (event: LegEvent) => void;
}

const DIGITS = /^[0-9A-D*#]{1,32}$/i;
const SAMPLES_PER_MS = 16;
/** Packets that are this much late are a pause of the caller, not jitter of the network. */
const JITTER_MS = 300;
/** Shorter gaps stay until they add up: a lost packet is 20 ms. */
const GAP_MS_MIN = 100;
/** A timestamp further ahead is a mistake. */
const GAP_MS_MAX = 24 * 3_600_000;

/**
 * One direction of a call: its audio in, labelled transcripts out. The service ends an utterance when the speaker
 * pauses, also on a noisy line. Long silence is not sent, so an utterance before it is flushed. Telephone systems may send
 * no packets during silence: the clock then ends the utterance, and the gap counts as silence.
 */
export class CallLeg {
  readonly #options: LegOptions;
  readonly #converter: AudioConverter;
  readonly #gate: VoiceGate;
  readonly #stream: SvcStream;
  readonly #startedAtMs = Date.now();
  readonly #warned = new Set<string>();
  /** Audio received. */
  #audioMs = 0;
  /** Time since the start of the leg, with the gaps. */
  #timeMs = 0;
  #packetAtMs = 0;
  #isPaused = false;
  #pauseTimer: NodeJS.Timeout | null = null;
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
      ...(options.keyterms.length > 0 && { keyterms: options.keyterms }),
    });
    const { protocol, language, parameters } = options;
    this.#emit({ type: 'started', protocol, language, parameters });
    this.#stream.on('delta', ({ text }) => {
      if (text !== '') this.#emit({ type: 'interim', text });
    });
    this.#stream.on('final', (final) => this.#onFinal(final));
    this.#stream.on('config_ack', ({ keyterms }) => {
      if (keyterms !== undefined && keyterms.refused.length > 0)
        this.#warn({ code: 'keyterms_ignored' });
    });
    this.#stream.on('waiting', ({ error }) => this.#warn(error));
    this.#stream.on('close', ({ reason }) =>
      this.#emit({ type: 'ended', reason, audio_ms: Math.round(this.#audioMs) }),
    );
  }

  /** Resolves when everything is final and reported. */
  get ended(): Promise<unknown> {
    return this.#stream.closed;
  }

  /** `atMs` is the carrier's timestamp, counted from the start of the leg. Without it, the clock measures pauses. */
  push(audio: Uint8Array, atMs: number | null = null): void {
    if (this.#hungUp) return;
    const pausedMs = this.#isPaused ? performance.now() - this.#packetAtMs : 0;
    this.#fillGap(atMs === null ? pausedMs : atMs - this.#timeMs);
    const samples = this.#converter.push(audio);
    this.#audioMs += samples.length / SAMPLES_PER_MS;
    this.#process(samples);
    this.#watchForPause();
  }

  dtmf(digit: string): void {
    if (!DIGITS.test(digit)) return;
    this.#emit({ type: 'dtmf', digit, at_ms: Math.round(this.#timeMs) });
  }

  /** The caller hung up. The last words still become final. */
  hangUp(): void {
    if (this.#hungUp) return;
    this.#hungUp = true;
    clearTimeout(this.#pauseTimer ?? undefined);
    const samples = this.#converter.end();
    this.#audioMs += samples.length / SAMPLES_PER_MS;
    this.#process(samples);
    this.#sendAll(this.#gate.end());
    // A stream that fails reports its reason as `ended`.
    void this.#stream.finish().catch(() => undefined);
  }

  #process(samples: Int16Array): void {
    this.#timeMs += samples.length / SAMPLES_PER_MS;
    this.#sendAll(this.#gate.push(samples));
    if (!this.#gate.isOpen) this.#endUtterance();
  }

  #endUtterance(): void {
    if (!this.#isSpeech) return;
    this.#isSpeech = false;
    void this.#stream.flush();
  }

  /** Fills a short gap with silence. A gap that ends an utterance is skipped, which costs nothing. */
  #fillGap(ms: number): void {
    if (!(ms >= GAP_MS_MIN && ms <= GAP_MS_MAX)) return;
    this.#timeMs += ms;
    if (this.#gate.isOpen) this.#sendAll(this.#gate.end());
    if (this.#isSpeech && ms < this.#options.silenceMs) {
      void this.#stream.write(new Int16Array(Math.round(ms * SAMPLES_PER_MS)));
      return;
    }
    this.#endUtterance();
    this.#stream.skip(ms);
  }

  #watchForPause(): void {
    this.#packetAtMs = performance.now();
    this.#isPaused = false;
    if (this.#pauseTimer !== null) {
      this.#pauseTimer.refresh();
      return;
    }
    this.#pauseTimer = setTimeout(() => {
      const packetAtMs = this.#packetAtMs;
      // Packets that have arrived while this process was busy are read first.
      setImmediate(() => {
        if (this.#packetAtMs === packetAtMs && !this.#hungUp) this.#pause();
      });
    }, this.#options.silenceMs + JITTER_MS);
  }

  #pause(): void {
    this.#isPaused = true;
    if (this.#gate.isOpen) this.#sendAll(this.#gate.end());
    this.#endUtterance();
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
  #warn({ code }: Pick<SvcError, 'code'>): void {
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
