import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';
import {
  TAKEN,
  type EngineEvent,
  type EngineFailure,
  type EngineStream,
  type EngineWord,
  type Peeked,
} from '../engine.ts';
import { EventQueue } from '../event-queue.ts';
import { ScriptedTurns, WORD_MS, type ScriptedTurn } from './scripted-turns.ts';
import type { SpeechDetector } from '../voice-activity/voice-activity.ts';
import { stableLength } from '../words.ts';

/** The results and failures of a scripted stream. Audio is only counted. */
export interface StreamScript {
  /**
   * The texts of successive utterances; they repeat after the last. A final has the whole text if there was any audio.
   * A delta has the words that have ended by then.
   */
  readonly texts: readonly (string | readonly EngineWord[])[];
  /** Speech and silence on the time line of the stream, in place of `texts`. */
  readonly turns?: readonly ScriptedTurn[];
  /** A shorter utterance is silence, and its final is empty. */
  readonly shortestMs?: number;
  /** The open is refused. */
  readonly busy?: boolean;
  /** How long the open takes. */
  readonly openMs?: number;
  /** How long each chunk takes to decode. */
  readonly chunkMs?: number;
  /** The recogniser crashes after this many samples of the stream. */
  readonly crashAfterSamples?: number;
  /** The recogniser hangs after this many samples of the stream. */
  readonly hangAfterSamples?: number;
}

/** The build and the recogniser of every scripted stream. */
export const SCRIPTED = 'scripted';
/** With more pending calls than this, the caller is ignoring write()'s promise. */
const CALLS_PENDING_MAX = 1024;

type Call =
  | { readonly do: 'audio'; samples: number; readonly taken: () => void }
  | { readonly do: 'flush' }
  | { readonly do: 'peek'; readonly answer: (said: Peeked | null) => void }
  | { readonly do: 'reset' };

interface StreamInput {
  readonly script: StreamScript;
  readonly build: string;
  readonly stalledAfterMs: number;
  readonly onEnd: () => void;
}

export class ScriptedStream implements EngineStream {
  readonly chunkSamples = CHUNK_SAMPLES;
  readonly build: string;
  readonly recogniser = SCRIPTED;
  readonly #queue = new EventQueue();
  readonly #input: StreamInput;
  readonly #turns: ScriptedTurns | null;
  readonly createDetector?: (originSample: number) => SpeechDetector;
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
  #sentWords = 0;

  constructor(input: StreamInput) {
    this.#input = input;
    this.build = input.build;
    const { turns: script } = input.script;
    this.#turns = script === undefined ? null : new ScriptedTurns(script);
    const turns = this.#turns;
    if (turns !== null) this.createDetector = (origin) => turns.createDetector(origin);
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

  expect(): void {}

  peek(): Promise<Peeked | null> {
    if (this.#over) return Promise.resolve(null);
    return new Promise((answer) => this.#call({ do: 'peek', answer }));
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
      if (call.do === 'audio') await this.#acceptAudio(call);
      else if (call.do === 'flush') this.#finish();
      else if (call.do === 'peek') call.answer(this.#said());
      else this.#begin(this.#textAt);
      if (!this.#hung) this.#calls.shift();
    }
    this.#working = false;
  }

  /** Up to each chunk's end and each fault's sample, one step at a time. */
  async #acceptAudio(call: Call & { do: 'audio' }): Promise<void> {
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
    const audioMs = this.#utteranceMs();
    const words = this.#words().filter((word) => word.endMs <= audioMs);
    if (words.length === this.#sentWords) return;
    this.#sentWords = words.length;
    const text = spoken(words);
    const samples = this.#utteranceSamples;
    const utterance = this.#utterance;
    this.#push({
      type: 'delta',
      utterance,
      text,
      stableLength: stableLength(text),
      samples,
    });
  }

  #finish(): void {
    const samples = this.#utteranceSamples;
    const utterance = this.#utterance;
    this.#push({ type: 'final', utterance, ...this.#said(), samples });
    this.#begin(this.#isSilent ? this.#textAt : this.#textAt + 1);
  }

  /** The utterance as its final would have it. */
  #said(): Peeked {
    const audioMs = this.#utteranceMs();
    const words = this.#isSilent ? [] : this.#words().map((word) => within(word, audioMs));
    return { text: spoken(words), words };
  }

  get #isSilent(): boolean {
    const { shortestMs = 0 } = this.#input.script;
    return this.#utteranceSamples === 0 || this.#utteranceMs() < shortestMs;
  }

  #begin(textAt: number): void {
    this.#utterance += 1;
    this.#textAt = textAt;
    this.#utteranceSamples = 0;
    this.#sentWords = 0;
  }

  #words(): readonly EngineWord[] {
    if (this.#turns !== null) {
      const endMs = toMs(this.#streamSamples);
      return this.#turns.wordsBetween(endMs - this.#utteranceMs(), endMs);
    }
    const { texts } = this.#input.script;
    const said = texts[this.#textAt % texts.length] ?? '';
    if (typeof said !== 'string') return said;
    return said
      .split(/\s+/u)
      .filter((text) => text !== '')
      .map((text, at) => ({ text, startMs: at * WORD_MS, endMs: (at + 1) * WORD_MS }));
  }

  #utteranceMs(): number {
    return toMs(this.#utteranceSamples);
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
    for (const call of this.#calls) {
      if (call.do === 'audio') call.taken();
      else if (call.do === 'peek') call.answer(null);
    }
    this.#calls = [];
    this.#input.onEnd();
  }
}

function toMs(samples: number): number {
  return (samples * 1000) / AUDIO.sampleRateHz;
}

function spoken(words: readonly EngineWord[]): string {
  return words.map((word) => word.text).join(' ');
}

/** A word cannot end after the audio. */
function within(word: EngineWord, audioMs: number): EngineWord {
  const endMs = Math.min(word.endMs, Math.floor(audioMs));
  return { text: word.text, startMs: Math.min(word.startMs, endMs), endMs };
}
