import { AudioConverter, VoiceGate } from '@svc-asr/sdk/audio';
import type { FinalEvent, SvcError, SvcStream } from '@svc-asr/sdk/stream';
import { endStream } from '../end-stream.ts';
import type { FinalOfItem } from './realtime-items.ts';
import type { RealtimeSettings } from './realtime-settings.ts';

export interface SpeechListener {
  onDelta(stableText: string): void;
  onFinal(final: FinalOfItem): void;
  onSpeechStarted(audioMs: number): void;
  onSpeechEnded(audioMs: number): void;
  /** The last event. */
  onFailure(error: SvcError): void;
}

/** How long a commit-only stream still sends silence after speech. */
const HOLD_MS = 700;
const SAMPLES_PER_MS = 16;

/** The audio of a connection on its way into a stream, as long as language, format and turn detection stay the same. */
export class RealtimeSpeech {
  readonly #stream: SvcStream;
  readonly #settings: RealtimeSettings;
  readonly #listener: SpeechListener;
  readonly #events: (() => void)[] = [];
  /** Finals that the stream emitted, and how many commits each of them answers. */
  readonly #commitsOf = new WeakMap<FinalEvent, number>();
  #converter: AudioConverter;
  #gate: VoiceGate;
  #isSpeech = false;
  #isFinishing = false;
  #receivedSamples = 0;

  constructor(stream: SvcStream, settings: RealtimeSettings, listener: SpeechListener) {
    this.#stream = stream;
    this.#settings = settings;
    this.#listener = listener;
    this.#converter = new AudioConverter(settings);
    this.#gate = new VoiceGate({ holdMs: settings.silenceMs ?? HOLD_MS });
    this.#listen(listener);
  }

  get receivedMs(): number {
    return this.#receivedSamples / SAMPLES_PER_MS;
  }

  /** Resolves when the stream can take more. */
  async push(audio: Uint8Array): Promise<void> {
    const samples = this.#converter.push(audio);
    this.#receivedSamples += samples.length;
    const written = this.#send(this.#gate.push(samples));
    if (this.#isSpeech && !this.#gate.isOpen && this.#settings.silenceMs !== null) {
      this.#isSpeech = false;
      void this.#stream.flush().catch(() => undefined);
    }
    await written;
  }

  commit(): void {
    void this.#send(this.#gate.end());
    this.#isSpeech = false;
    // The stream's end reports a failure.
    this.#stream.flush().then(
      (final) => this.#onAnswer(final),
      () => undefined,
    );
  }

  clear(): void {
    this.#converter = new AudioConverter(this.#settings);
    this.#gate = new VoiceGate({ holdMs: this.#settings.silenceMs ?? HOLD_MS });
    this.#isSpeech = false;
    void this.#stream.reset().catch(() => undefined);
  }

  /** Resolves after the last event. Speech that was not committed becomes a turn. */
  async finish(): Promise<void> {
    this.#isFinishing = true;
    void this.#send(this.#gate.push(this.#converter.end()));
    void this.#send(this.#gate.end());
    await this.#stream.finish().catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The client has gone: nothing more is recognised or charged. */
  async close(): Promise<void> {
    await endStream(this.#stream);
  }

  async #send(outputs: ReturnType<VoiceGate['push']>): Promise<void> {
    let written = Promise.resolve();
    for (const output of outputs) {
      if (output.do === 'skip') this.#stream.skip(output.ms);
      else {
        this.#isSpeech = true;
        written = this.#stream.write(output.samples).catch(() => undefined);
      }
    }
    await written;
  }

  #listen(listener: SpeechListener): void {
    const stream = this.#stream;
    stream.on('delta', ({ text, stable_chars }) =>
      this.#enqueue(() => listener.onDelta(text.slice(0, stable_chars))),
    );
    stream.on('final', (final) => {
      this.#commitsOf.set(final, 0);
      this.#enqueue(() => this.#onFinal(final, this.#commitsOf.get(final) ?? 0));
    });
    stream.on('speech_started', ({ audio_ms }) =>
      this.#enqueue(() => listener.onSpeechStarted(audio_ms)),
    );
    stream.on('speech_ended', ({ audio_ms }) =>
      this.#enqueue(() => listener.onSpeechEnded(audio_ms)),
    );
    stream.on('error', (error) => this.#enqueue(() => listener.onFailure(error)));
  }

  /** An empty buffer needs no answer from the service, and its final is not emitted. */
  #onAnswer(final: FinalEvent): void {
    const commits = this.#commitsOf.get(final);
    if (commits === undefined) this.#enqueue(() => this.#onFinal(final, 1));
    else this.#commitsOf.set(final, commits + 1);
  }

  #onFinal({ text, start_ms, end_ms }: FinalEvent, commits: number): void {
    const endsTurn = this.#settings.silenceMs !== null || this.#isFinishing;
    this.#listener.onFinal({ text, startMs: start_ms, endMs: end_ms, commits, endsTurn });
  }

  /**
   * Keeps the order of events. A flush resolves after its final was emitted and before this runs, so that each final is
   * reported with the commits it answers.
   */
  #enqueue(event: () => void): void {
    if (this.#events.push(event) > 1) return;
    setImmediate(() => {
      for (const each of this.#events.splice(0)) each();
    });
  }
}
