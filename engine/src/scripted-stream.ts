import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol';
import {
  TAKEN,
  type EngineEvent,
  type EngineFailure,
  type EngineStream,
  type EngineWord,
} from './engine.ts';
import { EventQueue } from './event-queue.ts';
import { stableLength } from './words.ts';

/** What one stream says and how it goes wrong. Audio is never listened to, only counted. */
export interface StreamScript {
  /**
   * One for each utterance in turn, from the first again after the last. A final says the whole text, if there was
   * any audio at all; a delta says the words that have ended by then.
   */
  readonly texts: readonly (string | readonly EngineWord[])[];
  /** The open is refused. */
  readonly busy?: boolean;
  /** How long the open takes. */
  readonly openMs?: number;
  /** How long each chunk takes to decode. */
  readonly chunkMs?: number;
  /** The child dies after so many samples of the stream. */
  readonly crashAfterSamples?: number;
  /** The child stops answering after so many samples of the stream. */
  readonly hangAfterSamples?: number;
}

/** A word of a plain text lasts half a chunk, so that each chunk says two more. */
const WORD_MS = 560;
/** More calls than this ahead of the engine is a caller that ignores write()'s promise. */
const CALLS_PENDING_MAX = 1024;

type Call =
  | { readonly do: 'audio'; samples: number; readonly taken: () => void }
  | { readonly do: 'flush' }
  | { readonly do: 'reset' };

interface StreamInput {
  readonly script: StreamScript;
  readonly stalledAfterMs: number;
  readonly onEnd: () => void;
}

export class ScriptedStream implements EngineStream {
  readonly chunkSamples = CHUNK_SAMPLES;
  readonly #queue = new EventQueue();
  readonly #input: StreamInput;
  #calls: Call[] = [];
  #working = false;
  #hung = false;
  #over = false;
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;
  #utterance = 0;
  #textAt = 0;
  #utteranceSamples = 0;
  #streamSamples = 0;
  #saidWords = 0;

  constructor(input: StreamInput) {
    this.#input = input;
  }

  get events(): AsyncIterable<EngineEvent> {
    return this.#queue;
  }

  write(pcm: Uint8Array): Promise<void> {
    if (pcm.byteLength % AUDIO.bytesPerSample !== 0) {
      return Promise.reject(new RangeError('Audio must be whole 16-bit samples.'));
    }
    const samples = pcm.byteLength / AUDIO.bytesPerSample;
    if (this.#over) return TAKEN;
    return new Promise((taken) => this.#call({ do: 'audio', samples, taken }));
  }

  flush(): void {
    this.#call({ do: 'flush' });
  }

  reset(): void {
    this.#call({ do: 'reset' });
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

  hang(): void {
    if (this.#over) return;
    this.#hung = true;
    this.#wake?.();
    if (this.#input.stalledAfterMs === Infinity) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.fail('child_stalled'), this.#input.stalledAfterMs);
  }

  #call(call: Call): void {
    if (this.#over) return;
    this.#calls.push(call);
    if (this.#calls.length > CALLS_PENDING_MAX) this.fail('queue_overflow');
    else if (!this.#working) void this.#work();
  }

  async #work(): Promise<void> {
    this.#working = true;
    while (!this.#over && !this.#hung) {
      const call = this.#calls[0];
      if (call === undefined) break;
      if (call.do === 'audio') await this.#hear(call);
      else if (call.do === 'flush') this.#finish();
      else this.#begin(this.#textAt);
      if (!this.#hung) this.#calls.shift();
    }
    this.#working = false;
  }

  /** Up to each chunk's end and each fault's sample, one step at a time. */
  async #hear(call: Call & { do: 'audio' }): Promise<void> {
    const { crashAfterSamples, hangAfterSamples, chunkMs = 0 } = this.#input.script;
    while (call.samples > 0) {
      const toChunkEnd = CHUNK_SAMPLES - (this.#utteranceSamples % CHUNK_SAMPLES);
      const toFault = (at = Infinity): number =>
        at > this.#streamSamples ? at - this.#streamSamples : Infinity;
      const step = Math.min(
        call.samples,
        toChunkEnd,
        toFault(crashAfterSamples),
        toFault(hangAfterSamples),
      );
      call.samples -= step;
      this.#utteranceSamples += step;
      this.#streamSamples += step;
      if (this.#streamSamples === crashAfterSamples) return this.fail('child_died');
      if (this.#streamSamples === hangAfterSamples) return this.hang();
      if (this.#utteranceSamples % CHUNK_SAMPLES !== 0) continue;
      if (chunkMs > 0) await this.#pass(chunkMs);
      if (this.#over || this.#hung) return;
      this.#speak();
    }
    call.taken();
  }

  #speak(): void {
    const heardMs = this.#utteranceMs();
    const words = this.#words().filter((word) => word.endMs <= heardMs);
    if (words.length === this.#saidWords) return;
    this.#saidWords = words.length;
    const text = spoken(words);
    const samples = this.#utteranceSamples;
    const utterance = this.#utterance;
    this.#push({
      type: 'delta',
      utterance,
      text,
      stableLength: stableLength(text),
      words,
      samples,
    });
  }

  #finish(): void {
    const samples = this.#utteranceSamples;
    const heardMs = this.#utteranceMs();
    const words = samples === 0 ? [] : this.#words().map((word) => within(word, heardMs));
    const utterance = this.#utterance;
    this.#push({ type: 'final', utterance, text: spoken(words), words, samples });
    this.#begin(samples === 0 ? this.#textAt : this.#textAt + 1);
  }

  #begin(textAt: number): void {
    this.#utterance += 1;
    this.#textAt = textAt;
    this.#utteranceSamples = 0;
    this.#saidWords = 0;
  }

  #words(): readonly EngineWord[] {
    const { texts } = this.#input.script;
    const said = texts[this.#textAt % texts.length] ?? '';
    if (typeof said !== 'string') return said;
    return said
      .split(/\s+/u)
      .filter((text) => text !== '')
      .map((text, at) => ({ text, startMs: at * WORD_MS, endMs: (at + 1) * WORD_MS }));
  }

  #utteranceMs(): number {
    return (this.#utteranceSamples * 1000) / AUDIO.sampleRateHz;
  }

  #push(event: EngineEvent): void {
    if (this.#queue.push(event) === 'overflow') this.fail('queue_overflow');
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#timer = setTimeout(resolve, ms);
    });
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    this.#wake?.();
    for (const call of this.#calls) if (call.do === 'audio') call.taken();
    this.#calls = [];
    this.#input.onEnd();
  }
}

function spoken(words: readonly EngineWord[]): string {
  return words.map((word) => word.text).join(' ');
}

/** A word cannot end after the audio did. */
function within(word: EngineWord, heardMs: number): EngineWord {
  const endMs = Math.min(word.endMs, Math.floor(heardMs));
  return { text: word.text, startMs: Math.min(word.startMs, endMs), endMs };
}
