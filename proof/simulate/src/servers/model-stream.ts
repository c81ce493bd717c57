import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol';
import {
  TAKEN,
  type EngineEvent,
  type EngineFailure,
  type EngineStream,
} from '@svc-asr/engine/core.ts';
import { EventQueue } from '@svc-asr/engine/event-queue.ts';
import { stableLength } from '@svc-asr/engine/words.ts';
import { recognised, SpeechReader } from './speech.ts';

type Call =
  | { readonly do: 'audio'; readonly pcm: Uint8Array; readonly taken: () => void }
  | { readonly do: 'flush' }
  | { readonly do: 'reset' }
  | { readonly do: 'expect'; readonly keyterms: readonly string[] };

interface StreamInput {
  readonly build: string;
  readonly recogniser: string;
  /** How long the next decode takes. */
  readonly decodeMs: () => number;
  readonly isCrowded: () => boolean;
  readonly onEnd: () => void;
}

const CHUNK_BYTES = CHUNK_SAMPLES * AUDIO.bytesPerSample;
/** With more pending calls than this, the caller is ignoring write()'s promise. */
const CALLS_PENDING_MAX = 1_024;

/** A stream of the model engine: reads the words out of the audio, a chunk at a time. */
export class ModelStream implements EngineStream {
  readonly chunkSamples = CHUNK_SAMPLES;
  readonly build: string;
  readonly recogniser: string;
  readonly #input: StreamInput;
  readonly #queue = new EventQueue();
  #calls: Call[] = [];
  #isWorking = false;
  #isHung = false;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;
  #utterance = 0;
  #speech = new SpeechReader();
  #shown = '';
  /** Of this utterance, and of those after it. */
  #keyterms: readonly string[] = [];
  #nextKeyterms: readonly string[] = [];

  constructor(input: StreamInput) {
    this.#input = input;
    this.build = input.build;
    this.recogniser = input.recogniser;
  }

  get isCrowded(): boolean {
    return this.#input.isCrowded();
  }

  get events(): AsyncIterable<EngineEvent> {
    return this.#queue;
  }

  write(pcm: Uint8Array): Promise<void> {
    if (pcm.byteLength % AUDIO.bytesPerSample !== 0) {
      return Promise.reject(new RangeError('Audio must be whole 16-bit samples.'));
    }
    if (this.#isOver) return TAKEN;
    if (!this.#isWorking && !this.#isHung && pcm.byteLength < this.#chunkRest) {
      this.#speech.read(pcm);
      return TAKEN;
    }
    return new Promise((taken) => this.#call({ do: 'audio', pcm, taken }));
  }

  flush(): void {
    this.#call({ do: 'flush' });
  }

  reset(): void {
    this.#call({ do: 'reset' });
  }

  expect(keyterms: readonly string[]): void {
    this.#call({ do: 'expect', keyterms });
  }

  close(): Promise<void> {
    this.#end();
    this.#queue.end();
    return Promise.resolve();
  }

  fail(reason: EngineFailure): void {
    this.#queue.fail(reason);
    this.#end();
  }

  /** Its recogniser stops working, without a word. */
  hang(): void {
    this.#isHung = true;
    clearTimeout(this.#timer);
  }

  #call(call: Call): void {
    if (this.#isOver) return;
    this.#calls.push(call);
    if (this.#calls.length > CALLS_PENDING_MAX) return this.fail('queue_overflow');
    if (!this.#isWorking && !this.#isHung) this.#work();
  }

  /** Takes the next call. Every decode takes time. */
  #work(): void {
    this.#isWorking = false;
    if (this.#isOver || this.#isHung) return;
    const call = this.#calls[0];
    if (call === undefined) return;
    this.#isWorking = true;
    if (call.do === 'audio') return this.#acceptAudio(call.pcm, call.taken);
    this.#calls.shift();
    if (call.do === 'flush') return this.#after(() => this.#finish());
    if (call.do === 'reset') this.#begin();
    else this.#expect(call.keyterms);
    this.#work();
  }

  /** Bytes that complete the current chunk. */
  get #chunkRest(): number {
    return CHUNK_BYTES - ((this.#speech.samples * AUDIO.bytesPerSample) % CHUNK_BYTES);
  }

  #acceptAudio(pcm: Uint8Array, taken: () => void): void {
    const bytes = this.#chunkRest;
    this.#speech.read(pcm.subarray(0, bytes));
    const rest = pcm.subarray(bytes);
    const next = (): void => {
      if (rest.byteLength > 0) return this.#acceptAudio(rest, taken);
      this.#calls.shift();
      taken();
      this.#work();
    };
    if (pcm.byteLength < bytes) return next();
    this.#after(() => {
      this.#show();
      next();
    });
  }

  #after(run: () => void): void {
    this.#timer = setTimeout(() => {
      if (!this.#isOver && !this.#isHung) run();
    }, this.#input.decodeMs());
  }

  #show(): void {
    const text = this.#text();
    if (text === this.#shown) return;
    this.#shown = text;
    const { samples } = this.#speech;
    const utterance = this.#utterance;
    this.#push({ type: 'delta', utterance, text, stableLength: stableLength(text), samples });
  }

  #finish(): void {
    const { samples } = this.#speech;
    const words = this.#speech.words();
    this.#push({ type: 'final', utterance: this.#utterance, text: this.#text(), words, samples });
    this.#begin();
    this.#work();
  }

  #begin(): void {
    this.#utterance += 1;
    this.#speech = new SpeechReader();
    this.#shown = '';
    this.#keyterms = this.#nextKeyterms;
  }

  #expect(keyterms: readonly string[]): void {
    this.#nextKeyterms = keyterms;
    if (this.#speech.samples === 0) this.#keyterms = keyterms;
  }

  #text(): string {
    return recognised(this.#speech.words(), this.#keyterms);
  }

  #push(event: EngineEvent): void {
    if (this.#queue.push(event) === 'overflow') this.fail('queue_overflow');
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const call of this.#calls) if (call.do === 'audio') call.taken();
    this.#calls = [];
    this.#input.onEnd();
  }
}
