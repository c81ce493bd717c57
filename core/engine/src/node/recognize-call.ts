import { status, type Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import { AUDIO, isModelId, MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import { readKeyterms } from '@svc-asr/protocol/keyterms.ts';
import { EngineBusy, TAKEN, type Engine, type EngineEvent, type EngineStream } from '../engine.ts';
import {
  ACKNOWLEDGE_EVERY,
  METADATA,
  type StreamingRecognitionResult,
  type StreamingRecognizeRequest,
  type StreamingRecognizeResponse,
} from '../grpc/protocol.ts';
import { newSpanId, parseTraceparent, type Tracing } from '@svc-asr/runtime/tracing.ts';
import { presentLoad } from '../grpc/load-report.ts';
import type { EngineNodeSlots } from './node-slots.ts';

export type RecognizeStream = ServerDuplexStream<
  StreamingRecognizeRequest,
  StreamingRecognizeResponse
>;

/** Riva's interim results have two parts: text that will not change, and text that may. */
const STABLE = 1;
const UNSTABLE = 0.01;
const BUSY_RETRY_MS = 100;
/** A gateway sends a keep-alive every 20 s, so a client that is silent for longer than this is lost. */
const IDLE_MS_MAX = 90_000;

export interface RecognizeCallInput {
  readonly engine: Engine;
  readonly slots: EngineNodeSlots;
  readonly call: RecognizeStream;
  /** Languages that a client may name in place of a model. */
  readonly languages: ReadonlyMap<string, ModelId>;
  readonly tracing: Tracing | null;
  readonly nowMs: () => number;
  readonly onEnd: (code: status) => void;
}

/**
 * One call is one utterance: a configuration, audio, and the client's half-close, which requests the
 * final. Exactly one final follows and then OK.
 */
export class RecognizeCall {
  readonly #input: RecognizeCallInput;
  readonly #closing = new AbortController();
  #activeAtMs: number;
  /** True while the client waits for the node: for a slot, for the recogniser to take audio, or for the final. */
  #isOurTurn = false;
  #stream: EngineStream | null = null;
  #freeSlot: (() => void) | null = null;
  #interimResults = false;
  #withWords = false;
  #acknowledges = false;
  readonly #beganMs = Date.now();
  #model = '';
  #audioBytes = 0;
  #taken = 0;
  #over = false;

  constructor(input: RecognizeCallInput) {
    this.#input = input;
    const { call } = input;
    readOneAhead(call);
    this.#activeAtMs = input.nowMs();
    call.once('data', (request: StreamingRecognizeRequest) => void this.#configure(request));
    call.once('end', () => {
      this.#isOurTurn = true;
      if (this.#stream !== null) return this.#stream.flush();
      this.#fail(status.INVALID_ARGUMENT, 'The first message must have streaming_config.');
    });
    call.on('cancelled', () => this.#end(status.CANCELLED));
    call.on('error', () => this.#end(status.CANCELLED));
  }

  /** Ends the call because the node stops; the client continues elsewhere. */
  drop(): void {
    this.#fail(status.UNAVAILABLE, 'This node is shutting down.');
  }

  /** Called periodically. Ends the call if the client stopped sending without closing its half. */
  endIfIdle(nowMs: number): void {
    if (this.#isOurTurn) this.#activeAtMs = nowMs;
    if (nowMs - this.#activeAtMs < IDLE_MS_MAX) return;
    this.#fail(status.DEADLINE_EXCEEDED, 'No message for 90 s.');
  }

  async #configure(request: StreamingRecognizeRequest): Promise<void> {
    const { call, languages } = this.#input;
    const config = request.streamingConfig?.config;
    if (config === undefined) {
      return this.#fail(status.INVALID_ARGUMENT, 'The first message must have streaming_config.');
    }
    if (config.encoding !== 'LINEAR_PCM' || config.sampleRateHertz !== AUDIO.sampleRateHz) {
      return this.#fail(status.INVALID_ARGUMENT, 'Audio must be LINEAR_PCM at 16000 Hz.');
    }
    if ((config.audioChannelCount || 1) !== 1) {
      return this.#fail(status.INVALID_ARGUMENT, 'Audio must have one channel.');
    }
    const model = findModel(config, languages);
    if (model === null) {
      const known = [...MODEL_IDS, ...languages.keys()].join(', ');
      return this.#fail(status.NOT_FOUND, `Unknown model or language. Known: ${known}.`);
    }
    this.#interimResults = request.streamingConfig?.interimResults === true;
    this.#withWords = config.enableWordTimeOffsets === true;
    this.#stopReading();
    const phrases = (config.speechContexts ?? []).flatMap((context) => context.phrases ?? []);
    await this.#open(model, {
      metadata: call.metadata,
      keyterms: readKeyterms(phrases, true).taken,
    });
  }

  async #open(
    model: ModelId,
    { metadata, keyterms }: { readonly metadata: Metadata; readonly keyterms: readonly string[] },
  ): Promise<void> {
    if (this.#over) return;
    this.#model = model;
    const { engine, slots, call } = this.#input;
    const [holder] = metadata.get(METADATA.holder);
    const [build] = metadata.get(METADATA.build);
    const [bytes] = metadata.get(METADATA.replayBytes);
    this.#acknowledges = metadata.get(METADATA.acknowledge).length > 0;
    try {
      this.#freeSlot = slots.take(holder === undefined ? null : String(holder));
      if (this.#freeSlot === null) throw new EngineBusy();
      this.#stream = await engine.open({
        model,
        signal: this.#closing.signal,
        replay: {
          build: build === undefined ? null : String(build),
          bytes: Number(bytes ?? 0) || 0,
        },
      });
    } catch (error) {
      if (this.#over) return;
      if (!(error instanceof EngineBusy)) {
        return this.#fail(status.UNAVAILABLE, 'The recogniser could not start.');
      }
      return this.#fail(status.RESOURCE_EXHAUSTED, 'No slot is free.', BUSY_RETRY_MS);
    }
    if (this.#over) return void this.#stream.close();
    if (keyterms.length > 0) this.#stream.expect(keyterms);
    const opened = presentLoad(slots.health());
    opened.set(METADATA.build, this.#stream.build ?? '');
    call.sendMetadata(opened);
    call.on('data', (request: StreamingRecognizeRequest) => this.#receive(request));
    void this.#answer(this.#stream);
    this.#goOnReading();
  }

  #receive({ audioContent }: StreamingRecognizeRequest): void {
    this.#activeAtMs = this.#input.nowMs();
    if (audioContent === undefined || audioContent.length === 0 || this.#over) return;
    if (audioContent.length % AUDIO.bytesPerSample !== 0) {
      return this.#fail(status.INVALID_ARGUMENT, 'Audio must be whole 16-bit samples.');
    }
    this.#audioBytes += audioContent.length;
    const taken = this.#stream?.write(audioContent);
    if (taken === undefined) return;
    if (taken === TAKEN) return this.#acknowledge();
    // Stop reading until the engine has accepted this audio.
    this.#stopReading();
    void this.#resumeAfter(taken);
  }

  async #resumeAfter(taken: Promise<void>): Promise<void> {
    await taken;
    if (this.#over) return;
    this.#acknowledge();
    this.#goOnReading();
  }

  #stopReading(): void {
    this.#isOurTurn = true;
    this.#input.call.pause();
  }

  #goOnReading(): void {
    this.#isOurTurn = false;
    this.#activeAtMs = this.#input.nowMs();
    this.#input.call.resume();
  }

  /** HTTP/2's window alone would let a client send a megabyte ahead. */
  #acknowledge(): void {
    this.#taken += 1;
    if (this.#acknowledges && this.#taken % ACKNOWLEDGE_EVERY === 0) this.#input.call.write({});
  }

  async #answer(stream: EngineStream): Promise<void> {
    for await (const event of stream.events) {
      if (this.#over) return;
      if (event.type === 'error') return this.#fail(status.UNAVAILABLE, 'The recogniser was lost.');
      if (event.type === 'delta' && !this.#interimResults) continue;
      this.#input.call.write({ results: this.#results(event) });
      if (event.type === 'final') return this.#finish();
    }
  }

  #results(event: Exclude<EngineEvent, { type: 'error' }>): StreamingRecognitionResult[] {
    const audioProcessed = event.samples / AUDIO.sampleRateHz;
    if (event.type === 'final') {
      const words = this.#withWords
        ? event.words.map(({ text, startMs, endMs, confidence = 0 }) => ({
            word: text,
            startTime: startMs,
            endTime: endMs,
            confidence,
          }))
        : [];
      const alternatives = [{ transcript: event.text, words }];
      return [{ alternatives, isFinal: true, stability: STABLE, audioProcessed }];
    }
    const parts = [
      { transcript: event.text.slice(0, event.stableLength), stability: STABLE },
      { transcript: event.text.slice(event.stableLength), stability: UNSTABLE },
    ];
    return parts
      .filter(({ transcript }) => transcript !== '')
      .map(({ transcript, stability }) => ({
        alternatives: [{ transcript }],
        stability,
        audioProcessed,
      }));
  }

  #finish(): void {
    if (this.#over) return;
    this.#input.call.end(presentLoad(this.#input.slots.health()));
    this.#end(status.OK);
  }

  #fail(code: status, details: string, retryAfterMs?: number): void {
    if (this.#over) return;
    const metadata = presentLoad(this.#input.slots.health());
    if (retryAfterMs !== undefined) metadata.set(METADATA.retryAfterMs, String(retryAfterMs));
    this.#end(code);
    this.#input.call.emit('error', { code, details, metadata });
  }

  #end(code: status): void {
    if (this.#over) return;
    this.#over = true;
    this.#closing.abort();
    void this.#stream?.close();
    this.#freeSlot?.();
    this.#trace(code);
    this.#input.onEnd(code);
  }

  /** Only calls that are part of a trace are recorded. */
  #trace(code: status): void {
    const { tracing, call } = this.#input;
    const parent = parseTraceparent(String(call.metadata.get(METADATA.traceparent)[0] ?? ''));
    if (tracing === null || parent === null) return;
    tracing.record({
      name: 'recognize',
      kind: 'server',
      traceId: parent.traceId,
      spanId: newSpanId(),
      parentSpanId: parent.spanId,
      startMs: this.#beganMs,
      endMs: Date.now(),
      failed: code !== status.OK && code !== status.CANCELLED,
      attributes: {
        'rpc.system': 'grpc',
        'rpc.grpc.status_code': code,
        'svc.model': this.#model,
        'svc.audio_ms': Math.round(
          (this.#audioBytes * 1000) / (AUDIO.sampleRateHz * AUDIO.bytesPerSample),
        ),
      },
    });
  }
}

/**
 * grpc-js would read 16 messages ahead of us, half a megabyte for each stream, and has no option for it. This is the
 * field behind every stream's `readableHighWaterMark`.
 */
function readOneAhead(call: RecognizeStream): void {
  const state: unknown = Reflect.get(call, '_readableState');
  if (typeof state === 'object' && state !== null) Reflect.set(state, 'highWaterMark', 1);
}

/** Finds a model by name, or else by language. `ki-KE` and `ki` are the same. */
function findModel(
  config: { readonly model?: string; readonly languageCode?: string },
  languages: ReadonlyMap<string, ModelId>,
): ModelId | null {
  if (config.model) return isModelId(config.model) ? config.model : null;
  const wanted = (config.languageCode ?? '').toLowerCase();
  for (const [language, model] of languages) {
    const known = language.toLowerCase();
    if (wanted === known || wanted === known.split('-')[0]) return model;
  }
  return null;
}
