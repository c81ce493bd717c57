import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';
import { CallQueue, type HeldCall } from '../call-queue.ts';
import {
  TAKEN,
  type EngineEvent,
  type EngineFailure,
  type EngineStream,
  type Peeked,
} from '../engine.ts';
import { EventQueue } from '../event-queue.ts';
import { InvalidAnswer, readDelta, readFinal } from '../recogniser-answer.ts';
import type { ChunkBuffers } from './chunk-buffers.ts';
import { FRAME, HEADER_BYTES, writeHeader, type Frame } from './frames.ts';

const CHUNK_BYTES = CHUNK_SAMPLES * AUDIO.bytesPerSample;
/**
 * A live chunk is sent in two parts. The features of the first part are computed while the rest
 * arrives, which saves a millisecond per delta (ADR 0011).
 */
const EARLY_BYTES = (CHUNK_BYTES * 3) / 4;
/** Chunks and flushes that the child may hold: the one being decoded, and the next. */
const AHEAD_MAX = 2;
/** Answers to one chunk or flush: a decode each for its audio and its tail, postponed words, and the final. */
const ANSWERS_EACH_MAX = 5;
/** With more pending calls than this, the caller is ignoring write()'s promise. */
const CALLS_HELD_MAX = 1024;

/** Audio that waits for the child's credit. */
interface HeldAudio {
  readonly pcm: Uint8Array;
  from: number;
  readonly taken: () => void;
}

export interface StreamLink {
  readonly id: number;
  readonly childPid: number;
  readonly build: string;
  readonly buffers: ChunkBuffers;
  isCrowded(): boolean;
  send(type: number, stream: number, utterance?: number): void;
  sendKeyterms(utterance: number, terms: readonly string[]): void;
  /** Sends a buffer, which returns to its pool afterwards. */
  sendChunk(buffer: Buffer, bytes: number): void;
  /** Releases the slot. */
  release(): void;
}

/**
 * The parent's end of one stream. The child decodes whole chunks only, so audio is gathered here: one
 * message per 1.12 s, or two if nothing is waiting, instead of one per frame.
 */
export class PooledStream implements EngineStream {
  readonly chunkSamples = CHUNK_SAMPLES;
  readonly childPid: number;
  readonly build: string;
  readonly recogniser: string;
  readonly #link: StreamLink;
  readonly #queue = new EventQueue();
  #chunk: Buffer | undefined;
  #filled = 0;
  /** Bytes of the unfinished chunk that were already sent to the child. */
  #early = 0;
  #ahead = 0;
  #utterance = 0;
  /** Flushed utterances without a final. */
  readonly #unanswered: number[] = [];
  #hasAudio = false;
  #sentSamples = 0;
  /** Answers that the child may still send. */
  #answersLeft = ANSWERS_EACH_MAX;
  #sentAtMs = 0;
  readonly #held = new CallQueue<HeldAudio>();
  /** How often the utterance so far was asked for, and who waits for the answer. */
  #peeks = 0;
  #peeking: ((answer: Peeked | null) => void) | null = null;
  #over = false;

  constructor(link: StreamLink) {
    this.#link = link;
    this.childPid = link.childPid;
    this.build = link.build;
    this.recogniser = String(link.childPid);
  }

  get events(): AsyncIterable<EngineEvent> {
    return this.#queue;
  }

  get isCrowded(): boolean {
    return this.#link.isCrowded();
  }

  /** How long the child's oldest response is overdue. */
  waitedMs(nowMs: number): number {
    return this.#ahead === 0 ? 0 : nowMs - this.#sentAtMs;
  }

  write(pcm: Uint8Array): Promise<void> {
    if (pcm.byteLength % AUDIO.bytesPerSample !== 0) {
      return Promise.reject(new RangeError('Audio must be whole 16-bit samples.'));
    }
    if (this.#over) return TAKEN;
    const from = this.#held.length === 0 ? this.#fill(pcm, 0) : 0;
    if (from === pcm.byteLength) return TAKEN;
    return new Promise((taken) => this.#hold({ do: 'audio', audio: { pcm, from, taken } }));
  }

  flush(): void {
    if (this.#over) return;
    if (this.#held.length > 0 || !this.#flushNow()) this.#hold({ do: 'flush' });
  }

  reset(): void {
    if (this.#over) return;
    for (const { taken } of this.#held.dropUnflushed()) taken();
    this.#makeHeld();
    if (this.#held.length > 0) this.#hold({ do: 'reset' });
    else this.#resetNow();
  }

  expect(keyterms: readonly string[]): void {
    if (this.#over) return;
    if (this.#held.length > 0) this.#hold({ do: 'expect', keyterms });
    else this.#expectNow(keyterms);
  }

  /** Sends the unfinished chunk too. While calls are held, the child is behind and the answer would be late. */
  peek(): Promise<Peeked | null> {
    this.#answerPeek(null);
    if (this.#over || this.#held.length > 0 || this.#isChunk) return Promise.resolve(null);
    this.#early += this.#filled;
    this.#sendAudio();
    this.#peeks += 1;
    this.#link.send(FRAME.peek, this.#link.id, this.#peeks);
    this.#answersLeft += 1;
    return new Promise((resolve) => (this.#peeking = resolve));
  }

  #answerPeek(answer: Peeked | null): void {
    this.#peeking?.(answer);
    this.#peeking = null;
  }

  close(): Promise<void> {
    if (!this.#over) this.#link.send(FRAME.close, this.#link.id);
    this.#end();
    this.#queue.end();
    return TAKEN;
  }

  fail(reason: EngineFailure): void {
    this.#queue.fail(reason);
    this.#end();
  }

  /** Handles a frame from the child. Throws InvalidAnswer if a working child would not send it. */
  receive(frame: Frame): void {
    this.#answersLeft -= 1;
    if (this.#answersLeft < 0) throw new InvalidAnswer('too many answers');
    if (frame.credits > this.#ahead) throw new InvalidAnswer('credit for audio that was not sent');
    if (frame.type === FRAME.final || frame.payload.length > 0) this.#deliver(frame);
    this.#ahead -= frame.credits;
    this.#sentAtMs = performance.now();
    this.#advance();
  }

  #deliver({ type, utterance, payload }: Frame): void {
    const answer: unknown = JSON.parse(payload.toString());
    if (type === FRAME.peeked) {
      const peeked = readFinal(answer, this.#sentSamples);
      if (utterance === this.#peeks) this.#answerPeek(peeked);
      return;
    }
    const isFinal = type === FRAME.final;
    const isExpected = isFinal
      ? utterance === this.#unanswered.shift()
      : utterance <= this.#utterance;
    if (!isExpected) throw new InvalidAnswer('an utterance that it was not asked for');
    const event: EngineEvent = isFinal
      ? { type: 'final', utterance, ...readFinal(answer, this.#sentSamples) }
      : { type: 'delta', utterance, ...readDelta(answer, this.#sentSamples) };
    if (this.#queue.push(event) === 'taken') return;
    this.#link.send(FRAME.close, this.#link.id);
    this.fail('queue_overflow');
  }

  /** Copies audio into chunks and sends them while there is credit. Returns the number of bytes taken. */
  #fill(pcm: Uint8Array, from: number): number {
    let at = from;
    while (at < pcm.byteLength) {
      if (this.#isChunk && !this.#sendChunk()) return at;
      this.#chunk ??= this.#link.buffers.take();
      this.#hasAudio = true;
      const end = Math.min(pcm.byteLength, at + CHUNK_BYTES - this.#early - this.#filled);
      this.#chunk.set(
        at === 0 && end === pcm.byteLength ? pcm : pcm.subarray(at, end),
        HEADER_BYTES + this.#filled,
      );
      this.#filled += end - at;
      at = end;
    }
    if (this.#isChunk) this.#sendChunk();
    else if (this.#ahead === 0 && this.#filled >= EARLY_BYTES) {
      this.#early += this.#filled;
      this.#sendAudio();
    }
    return at;
  }

  get #isChunk(): boolean {
    return this.#early + this.#filled === CHUNK_BYTES;
  }

  #sendChunk(): boolean {
    if (this.#ahead >= AHEAD_MAX) return false;
    this.#sendAudio();
    this.#early = 0;
    this.#count();
    return true;
  }

  #flushNow(): boolean {
    if (this.#isChunk && !this.#sendChunk()) return false;
    if (this.#ahead >= AHEAD_MAX) return false;
    if (this.#filled > 0) this.#sendAudio();
    this.#early = 0;
    this.#answerPeek(null);
    this.#link.send(FRAME.flush, this.#link.id);
    this.#unanswered.push(this.#utterance);
    this.#utterance += 1;
    this.#hasAudio = false;
    this.#count();
    return true;
  }

  #resetNow(): void {
    this.#filled = 0;
    this.#early = 0;
    this.#answerPeek(null);
    this.#link.send(FRAME.reset, this.#link.id);
    this.#utterance += 1;
    this.#hasAudio = false;
    // The child returns the credit of dropped chunks in an answer of its own.
    this.#answersLeft += 1;
  }

  #expectNow(keyterms: readonly string[]): void {
    this.#link.sendKeyterms(this.#utterance + (this.#hasAudio ? 1 : 0), keyterms);
  }

  #sendAudio(): void {
    if (this.#chunk === undefined) return;
    writeHeader(this.#chunk, { type: FRAME.audio, stream: this.#link.id }, this.#filled);
    this.#link.sendChunk(this.#chunk, HEADER_BYTES + this.#filled);
    this.#sentSamples += this.#filled / AUDIO.bytesPerSample;
    this.#chunk = undefined;
    this.#filled = 0;
  }

  #count(): void {
    if (this.#ahead === 0) this.#sentAtMs = performance.now();
    this.#ahead += 1;
    this.#answersLeft += ANSWERS_EACH_MAX;
  }

  #hold(call: HeldCall<HeldAudio>): void {
    this.#held.add(call);
    if (this.#held.length <= CALLS_HELD_MAX) return;
    this.#link.send(FRAME.close, this.#link.id);
    this.fail('queue_overflow');
  }

  #advance(): void {
    if (this.#isChunk) this.#sendChunk();
    this.#makeHeld();
  }

  /** Makes held calls in order while there is credit. */
  #makeHeld(): void {
    this.#held.advance((call) => this.#make(call));
  }

  #make(call: HeldCall<HeldAudio>): boolean {
    switch (call.do) {
      case 'audio': {
        const { audio } = call;
        audio.from = this.#fill(audio.pcm, audio.from);
        if (audio.from < audio.pcm.byteLength) return false;
        audio.taken();
        return true;
      }
      case 'flush':
        return this.#flushNow();
      case 'reset':
        this.#resetNow();
        return true;
      case 'expect':
        this.#expectNow(call.keyterms);
        return true;
    }
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#answerPeek(null);
    for (const { taken } of this.#held.clear()) taken();
    if (this.#chunk !== undefined) this.#link.buffers.give(this.#chunk);
    this.#chunk = undefined;
    this.#link.release();
  }
}
