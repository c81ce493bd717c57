import { AudioConverter, VoiceGate, type SampleEncoding } from '@svc-asr/sdk/audio';
import { openStream, type GetSession, type SvcStream } from '@svc-asr/sdk/stream';

/** Events that the bridge emits. Each names its call and leg. */
export type CallEvent = { readonly call: string; readonly leg: string } & (
  | { readonly type: 'started'; readonly protocol: string }
  | { readonly type: 'interim'; readonly text: string }
  | {
      readonly type: 'final';
      readonly text: string;
      readonly start_ms: number;
      readonly end_ms: number;
      /** Confidence from 0 to 1. Null if the model provides none. */
      readonly confidence: number | null;
    }
  | { readonly type: 'dtmf'; readonly digit: string; readonly at_ms: number }
  | { readonly type: 'ended'; readonly reason: string }
);

type EventBody = CallEvent extends infer E
  ? E extends CallEvent
    ? Omit<E, 'call' | 'leg'>
    : never
  : never;

export interface LegOptions {
  readonly call: string;
  readonly leg: string;
  readonly protocol: string;
  readonly encoding: SampleEncoding;
  readonly sampleRateHz: number;
  readonly silenceMs: number;
  readonly getSession: GetSession;
  readonly onEvent: (event: CallEvent) => void;
}

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
  #audioMs = 0;
  #isSpeech = false;
  #hungUp = false;

  constructor(options: LegOptions) {
    this.#options = options;
    const { encoding, sampleRateHz } = options;
    this.#converter = new AudioConverter({ encoding, sampleRateHz });
    this.#gate = new VoiceGate({ holdMs: options.silenceMs });
    this.#stream = openStream({
      getSession: options.getSession,
      endpointing: { silenceMs: options.silenceMs },
    });
    this.#emit({ type: 'started', protocol: options.protocol });
    this.#stream.on('delta', ({ text }) => {
      if (text !== '') this.#emit({ type: 'interim', text });
    });
    this.#stream.on('final', ({ text, start_ms, end_ms, confidence = null }) => {
      if (text !== '') this.#emit({ type: 'final', text, start_ms, end_ms, confidence });
    });
    this.#stream.on('close', ({ reason }) => this.#emit({ type: 'ended', reason }));
  }

  /** Resolves when everything is final and reported. */
  get ended(): Promise<unknown> {
    return this.#stream.closed;
  }

  push(audio: Uint8Array): void {
    if (!this.#hungUp) this.#processAudio(this.#converter.push(audio));
  }

  dtmf(digit: string): void {
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

  #emit(body: EventBody): void {
    const { call, leg, onEvent } = this.#options;
    onEvent({ call, leg, ...body });
  }
}
