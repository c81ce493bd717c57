import { log, stt, type APIConnectOptions } from '@livekit/agents';
import type { AudioFrame } from '@livekit/rtc-node';
import type { SvcError } from '@svc-asr/sdk';
import { VoiceGate, type GateOutput } from '@svc-asr/sdk/audio';
import {
  openStream,
  type DeltaEvent,
  type FinalEvent,
  type GetSession,
  type SvcStream,
  type TurnEagerEvent,
} from '@svc-asr/sdk/stream';
import type { Language } from './language.ts';
import { OutageReporter } from './outage-reporter.ts';
import { speechData, toApiError } from './speech-events.ts';
import { TurnTracker } from './turn-tracker.ts';

/** What a stream is opened with. */
export interface StreamSettings {
  readonly getSession: GetSession;
  readonly language: Language;
  readonly silenceMs: number;
  readonly eagerMs: number | undefined;
  readonly numbers: boolean;
}

export interface SpeechStreamOptions {
  /** Another object means that the stream must be opened again. */
  readonly settings: () => StreamSettings;
  /** Another array is used from the next audio on. */
  readonly keyterms: () => readonly string[] | undefined;
  readonly connOptions?: APIConnectOptions | undefined;
}

export function withKeyterms(keyterms: readonly string[] | undefined): {
  keyterms?: readonly string[];
} {
  return keyterms === undefined ? {} : { keyterms };
}

type Input = IteratorResult<AudioFrame | symbol>;

const SAMPLE_RATE_HZ = 16_000;
const { SpeechEventType } = stt;

/**
 * Turns an agent's audio into speech events. The service reports where speech starts and ends, and ends a turn after
 * `silenceMs` of silence. Silence between turns is not sent, so it costs nothing.
 */
export class SvcSpeechStream extends stt.SpeechStream {
  readonly label = 'svc.SpeechStream';
  readonly #options: SpeechStreamOptions;
  readonly #owner: stt.STT;
  #settings: StreamSettings;
  #keyterms: readonly string[] | undefined;
  #turns: TurnTracker;
  readonly #outages: OutageReporter;
  /** The stream of the current attempt. */
  #stream: SvcStream | null = null;
  /** A read that a failed attempt left pending: the next attempt must not skip its frame. */
  #pendingInput: Promise<Input> | null = null;
  /** Whether audio was sent since the last flush. */
  #isSending = false;
  #audioMs = 0;

  constructor(owner: stt.STT, options: SpeechStreamOptions) {
    super(owner, SAMPLE_RATE_HZ, options.connOptions);
    this.#options = options;
    this.#owner = owner;
    this.#settings = options.settings();
    this.#turns = this.#newTurns();
    this.#outages = new OutageReporter({
      onOutage: (error) => this.#reportOutage(error),
      onRecovery: (outageMs) => {
        log().info({ stt: owner.label, outageMs: Math.round(outageMs) }, 'Recognition continues.');
      },
    });
  }

  protected override async run(): Promise<void> {
    while (!(await this.#runStream())) {
      this.startTimeOffset += this.#audioMs / 1000;
      this.#settings = this.#options.settings();
      this.#turns = this.#newTurns();
    }
  }

  #newTurns(): TurnTracker {
    const events = {
      onStart: () => this.#emit({ type: SpeechEventType.START_OF_SPEECH }),
      onEnd: (speechEndMs: number | null) => this.#emitEnd(speechEndMs),
      onFinalLate: () => this.#flush(),
    };
    return new TurnTracker(events, this.#settings);
  }

  /** Whether the audio has ended. Otherwise the settings have changed. */
  async #runStream(): Promise<boolean> {
    const { silenceMs } = this.#settings;
    const stream = this.#open();
    this.#stream = stream;
    const gate = new VoiceGate({ holdMs: silenceMs });
    this.#audioMs = 0;
    let hasChanged = false;
    let isClosed = false;
    let onClosed: (() => void) | null = null;
    void stream.closed.finally(() => {
      isClosed = true;
      onClosed?.();
    });
    try {
      for (;;) {
        // Promise.race would keep every frame until the stream closes.
        const input = await new Promise<Input | null>((resolve, reject) => {
          onClosed = () => resolve(null);
          if (isClosed) resolve(null);
          this.#nextInput().then(resolve, reject);
        });
        // The stream ended by itself. finish() reports why.
        if (input === null || input.done) break;
        hasChanged = this.#options.settings() !== this.#settings;
        // The frame belongs to the next stream.
        if (hasChanged) break;
        this.#pendingInput = null;
        this.#updateKeyterms(stream);
        if (typeof input.value === 'symbol') {
          this.#sendAll(stream, gate.end());
          this.#flushTurn();
        } else this.#processAudio(stream, gate, input.value);
      }
      this.#sendAll(stream, gate.end());
      await stream.finish();
      this.#turns.end();
      this.#isSending = false;
      return !hasChanged;
    } catch (error) {
      throw toApiError(error);
    } finally {
      this.#outages.stop();
      this.#turns.onStreamEnded();
      await stream.close();
    }
  }

  #open(): SvcStream {
    const { getSession, silenceMs, eagerMs, numbers } = this.#settings;
    this.#keyterms = this.#options.keyterms();
    const turns = this.#turns;
    const signal = this.abortSignal;
    const stream = openStream({
      getSession,
      endpointing: { silenceMs, ...(eagerMs === undefined ? {} : { eagerMs }) },
      ...withKeyterms(this.#keyterms),
      numbers,
      signal,
    });
    stream.on('speech_started', ({ audio_ms, confirmed }) => {
      // A bark or a door must not interrupt the agent. If it was speech, its text starts the turn.
      if (confirmed !== false) turns.onSpeechStarted(audio_ms);
    });
    stream.on('speech_ended', ({ audio_ms }) => turns.onSpeechEnded(audio_ms));
    stream.on('delta', (event) => this.#onDelta(event));
    stream.on('turn_eager', (event) => this.#onEager(event));
    stream.on('config_ack', ({ ignored }) => this.#warnOf(ignored));
    stream.on('final', (event) => this.#onFinal(event, stream));
    stream.on('reconnecting', () => turns.onDisconnected());
    stream.on('ready', () => turns.onReady());
    this.#outages.follow(stream);
    return stream;
  }

  #updateKeyterms(stream: SvcStream): void {
    const keyterms = this.#options.keyterms();
    if (keyterms === this.#keyterms) return;
    this.#keyterms = keyterms;
    stream.setKeyterms(keyterms ?? []);
  }

  #nextInput(): Promise<Input> {
    this.#pendingInput ??= this.input.next();
    return this.#pendingInput;
  }

  #processAudio(stream: SvcStream, gate: VoiceGate, frame: AudioFrame): void {
    const samples = mono(frame);
    this.#audioMs += (samples.length * 1000) / SAMPLE_RATE_HZ;
    this.#sendAll(stream, gate.push(samples));
    // No more audio follows in which the service could find the end of the turn.
    if (!gate.isOpen) this.#flushTurn();
  }

  #sendAll(stream: SvcStream, outputs: readonly GateOutput[]): void {
    for (const output of outputs) {
      if (output.do === 'skip') stream.skip(output.ms);
      else {
        this.#isSending = true;
        // Live audio cannot be slowed down. A failure ends the stream, and finish() reports it.
        void stream.write(output.samples);
      }
    }
  }

  /** Flushes audio that was sent since the last flush. */
  #flushTurn(): void {
    if (this.#isSending) this.#flush();
  }

  #flush(): void {
    if (this.#stream === null) return;
    this.#isSending = false;
    this.#turns.onFlush();
    // A stream that fails before the final arrives reports that by itself.
    void this.#stream.flush().then(
      ({ end_ms }) => this.#turns.onFlushFinal(end_ms),
      () => undefined,
    );
  }

  /** The agent hears about an outage while the stream survives it. `recoverable` keeps the agent from giving up. */
  #reportOutage(error: SvcError): void {
    const { label } = this.#owner;
    log().warn(
      { stt: label, code: error.code, requestId: error.requestId },
      'Recognition is interrupted. Audio is kept and sent when the service is back.',
    );
    try {
      this.#owner.emit('error', {
        type: 'stt_error',
        timestamp: Date.now(),
        label,
        error: toApiError(error),
        recoverable: true,
      });
    } catch {
      // Nobody listens to errors of the agent, so Node throws them. The log line has reported it.
    }
  }

  #onDelta({ text, audio_ms }: DeltaEvent): void {
    if (text === '') return;
    this.#turns.onInterim();
    const { language } = this.#settings;
    const utterance = { text, start_ms: 0, end_ms: audio_ms, words: [] };
    this.#emit({
      type: SpeechEventType.INTERIM_TRANSCRIPT,
      alternatives: [speechData(utterance, language, this.startTimeOffset)],
    });
  }

  /** LiveKit begins an answer. It keeps the answer if the text of the whole turn is the same. */
  #onEager(event: TurnEagerEvent): void {
    this.#turns.onInterim();
    const utterance = { ...event, start_ms: 0, end_ms: event.audio_ms };
    this.#emit({
      type: SpeechEventType.PREFLIGHT_TRANSCRIPT,
      alternatives: [speechData(utterance, this.#settings.language, this.startTimeOffset)],
    });
  }

  #warnOf(ignored: readonly string[]): void {
    if (ignored.length === 0) return;
    log().warn({ stt: this.#owner.label, ignored }, 'The model of this session ignores options.');
  }

  #onFinal(event: FinalEvent, stream: SvcStream): void {
    const requestId = stream.sessionId ?? '';
    if (event.text !== '') {
      this.#turns.onText();
      this.#emit({
        type: SpeechEventType.FINAL_TRANSCRIPT,
        requestId,
        alternatives: [speechData(event, this.#settings.language, this.startTimeOffset)],
      });
    }
    if (event.audio_ms > 0) {
      this.#emit({
        type: SpeechEventType.RECOGNITION_USAGE,
        requestId,
        recognitionUsage: { audioDuration: event.audio_ms / 1000 },
      });
    }
    if (event.reason === 'endpoint') this.#turns.onTurnFinal(event.end_ms);
  }

  #emitEnd(speechEndMs: number | null): void {
    const agoMs = speechEndMs === null ? 0 : Math.max(0, this.#audioMs - speechEndMs);
    this.#emit({ type: SpeechEventType.END_OF_SPEECH, speechEndTime: Date.now() - agoMs });
  }

  #emit(event: stt.SpeechEvent): void {
    if (!this.queue.closed) this.queue.put(event);
  }
}

function mono({ data, channels }: AudioFrame): Int16Array {
  if (channels === 1) return data;
  return Int16Array.from({ length: data.length / channels }, (_, at) => {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) {
      sum += data[at * channels + channel] ?? 0;
    }
    return Math.round(sum / channels);
  });
}
