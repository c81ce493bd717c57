import { AUDIO } from '@svc-asr/protocol/constants.ts';
import {
  TAKEN,
  type EngineEvent,
  type EngineFailure,
  type EngineStream,
  type Peeked,
  type Replay,
} from '../engine.ts';
import { EventQueue } from '../event-queue.ts';
import type { ReplayMemory } from './replay-memory.ts';
import type { ReplayLimiter } from './replay-limiter.ts';
import { Utterance } from './utterance.ts';

/** The stream fails after this many lost recognisers, so that audio which crashes recognisers can't crash all. */
const LOSSES_MAX = 5;
/** With more unanswered flushes than this, the caller isn't waiting for finals. */
const FLUSHES_PENDING_MAX = 1024;
const NO_KEYTERMS: readonly string[] = [];

/** The parts of the engine that a stream uses. */
export interface ReplayHost {
  readonly memory: ReplayMemory;
  readonly limiter: ReplayLimiter;
  /** Un-finalised audio of a stream beyond this is not kept. */
  readonly streamBytesMax: number;
  /** Opens a stream on another recogniser. Resolves with null if none is available in time. */
  reopen(stream: ReplayStream, replay: Replay): Promise<EngineStream | null>;
  /** Opens a stream on the least loaded recogniser. Resolves with null if none is free at once. */
  openAnother(stream: ReplayStream, replay: Replay): Promise<EngineStream | null>;
  /** True once the engine is closed. Streams between two recognisers end too. */
  isClosed(): boolean;
  onLost(stream: ReplayStream): void;
  onReplayed(stream: ReplayStream): void;
  onFailed(why: ReplayFailure): void;
  onEnd(stream: ReplayStream): void;
}

/** Why a stream could not continue after its recogniser was lost. */
export type ReplayFailure = 'too_long' | 'no_slot' | 'too_many_losses' | 'different_text';

/** A recogniser that serves this stream. Each numbers its utterances from 0. */
class Attempt {
  readonly inner: EngineStream;
  readonly utterances = new Map<number, Utterance>();
  /** The utterance that audio is sent to, and how much of it was sent. */
  sending: Utterance;
  sentBytes = 0;
  isLost = false;
  #number = 0;
  #keyterms: readonly string[] = NO_KEYTERMS;

  constructor(inner: EngineStream, first: Utterance) {
    this.inner = inner;
    this.sending = first;
    this.utterances.set(0, first);
    this.expectKeyterms();
  }

  /** Call it before the first audio of an utterance: on each recogniser, it must have the same keyterms. */
  expectKeyterms(): void {
    const { keyterms } = this.sending;
    if (keyterms === this.#keyterms) return;
    this.#keyterms = keyterms;
    this.inner.expect(keyterms);
  }

  write(pcm: Uint8Array): Promise<void> {
    this.sentBytes += pcm.byteLength;
    return this.inner.write(pcm);
  }

  flush(): void {
    this.inner.flush();
    this.#advance();
  }

  reset(): void {
    this.inner.reset();
    this.utterances.delete(this.#number);
    this.#advance();
  }

  #advance(): void {
    const { next } = this.sending;
    if (next === null) throw new RangeError('An utterance must be flushed or dropped first.');
    this.sending = next;
    this.sentBytes = 0;
    this.utterances.set(++this.#number, next);
    this.expectKeyterms();
  }
}

/**
 * A stream that survives the loss of its recogniser. It keeps the audio of every utterance until the
 * final. When the recogniser is lost, the audio is replayed to another one, and the caller sees only a
 * pause.
 */
export class ReplayStream implements EngineStream {
  readonly chunkSamples: number;
  readonly #host: ReplayHost;
  readonly #queue = new EventQueue();
  readonly #closing = new AbortController();
  /** The oldest utterance without a final, and the current one. */
  #first: Utterance;
  #current: Utterance;
  #attempt: Attempt;
  /** Pending while audio is replayed: new writes wait until the recogniser has caught up. */
  #replaying: PromiseWithResolvers<void> | null = null;
  #flushesPending = 0;
  #flushedBytes = 0;
  /** Of utterances that begin from now on. */
  #keyterms = NO_KEYTERMS;
  #over = false;

  constructor(inner: EngineStream, host: ReplayHost) {
    this.chunkSamples = inner.chunkSamples;
    this.#host = host;
    this.#first = new Utterance(0, host.memory, NO_KEYTERMS);
    this.#current = this.#first;
    this.#attempt = new Attempt(inner, this.#first);
    void this.#listen(this.#attempt);
  }

  get build(): string | null {
    return this.#attempt.inner.build;
  }

  get recogniser(): string {
    return this.#attempt.inner.recogniser;
  }

  get events(): AsyncIterable<EngineEvent> {
    return this.#queue;
  }

  /** Aborted when the stream ends. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  write(pcm: Uint8Array): Promise<void> {
    if (pcm.byteLength % AUDIO.bytesPerSample !== 0) {
      return Promise.reject(new RangeError('Audio must be whole 16-bit samples.'));
    }
    if (this.#over) return TAKEN;
    if (pcm.byteLength > 0) this.#current.hasAudio = true;
    this.#current.audio.append(pcm, this.#host.streamBytesMax - this.#flushedBytes);
    if (this.#replaying === null) return this.#attempt.write(pcm);
    if (!this.#current.audio.complete) this.#giveUp('child_died', 'too_long');
    return this.#over ? TAKEN : this.#replaying.promise;
  }

  flush(): void {
    if (this.#over) return;
    this.#flushedBytes += this.#current.audio.bytes;
    this.#begin();
    this.#flushesPending += 1;
    if (this.#flushesPending > FLUSHES_PENDING_MAX) return this.#fail('queue_overflow');
    if (this.#replaying === null) this.#attempt.flush();
  }

  reset(): void {
    if (this.#over) return;
    const dropped = this.#current;
    dropped.audio.release();
    this.#begin();
    if (dropped === this.#first) this.#first = this.#current;
    else unlink(this.#first, dropped);
    // During a replay the recogniser may not have reached the dropped utterance yet. It is then never sent.
    if (this.#attempt.sending === dropped) this.#attempt.reset();
  }

  expect(keyterms: readonly string[]): void {
    if (this.#over) return;
    this.#keyterms = keyterms;
    if (this.#current.hasAudio) return;
    this.#current.keyterms = keyterms;
    if (this.#attempt.sending === this.#current) this.#attempt.expectKeyterms();
  }

  /** A recogniser that catches up answers too late. */
  peek(): Promise<Peeked | null> {
    const isLate = this.#over || this.#replaying !== null;
    return (isLate ? undefined : this.#attempt.inner.peek?.()) ?? Promise.resolve(null);
  }

  async close(): Promise<void> {
    this.#end();
    this.#queue.end();
    await this.#attempt.inner.close();
  }

  #begin(): void {
    const next = new Utterance(this.#current.number + 1, this.#host.memory, this.#keyterms);
    this.#current.next = next;
    this.#current = next;
  }

  async #listen(attempt: Attempt): Promise<void> {
    for await (const event of attempt.inner.events) {
      if (this.#over || attempt !== this.#attempt) return;
      if (event.type === 'error') this.#lost(event.reason);
      else this.#receive(attempt, event);
    }
  }

  #receive(attempt: Attempt, event: Exclude<EngineEvent, { type: 'error' }>): void {
    const utterance = attempt.utterances.get(event.utterance);
    if (utterance === undefined) return;
    if (event.type === 'delta' && utterance.hasShown(event)) return;
    if (utterance.losses > 0 && utterance.contradictedBy(event)) {
      return this.#giveUp('child_died', 'different_text');
    }
    if (event.type === 'delta') utterance.show(event);
    else this.#finish(attempt, event.utterance, utterance);
    const { number } = utterance;
    const pushed = event.utterance === number ? event : { ...event, utterance: number };
    if (this.#queue.push(pushed) === 'overflow') this.#fail('queue_overflow');
  }

  #finish(attempt: Attempt, number: number, utterance: Utterance): void {
    attempt.utterances.delete(number);
    this.#flushedBytes -= utterance.audio.bytes;
    utterance.audio.release();
    this.#flushesPending -= 1;
    this.#first = utterance.next ?? this.#current;
    if (attempt.inner.isCrowded === true && this.#isBetweenUtterances) void this.#move();
  }

  /** No final is pending, and the current utterance is shorter than a chunk, so no delta of it can exist. */
  get #isBetweenUtterances(): boolean {
    const isShort = this.#current.audio.bytes < this.chunkSamples * AUDIO.bytesPerSample;
    return this.#first === this.#current && isShort && this.#replaying === null;
  }

  /**
   * Leaves a crowded recogniser between two utterances. When a recogniser is lost, its streams go to the others; without
   * this they would stay there after it was replaced.
   */
  async #move(): Promise<void> {
    const { audio } = this.#current;
    // Writes wait in the replay buffer, which must not overflow meanwhile.
    if (!audio.complete || !this.#host.memory.hasRoom) return;
    const left = this.#attempt;
    this.#replaying = Promise.withResolvers<void>();
    const inner = await this.#host.openAnother(this, { build: null, bytes: audio.bytes });
    if (this.#over || left.isLost) return void inner?.close();
    if (inner !== null) {
      this.#attempt = new Attempt(inner, this.#first);
      void this.#listen(this.#attempt);
      void left.inner.close();
    }
    await this.#replay(this.#attempt);
  }

  #lost(reason: EngineFailure): void {
    if (reason === 'engine_closed' || reason === 'queue_overflow') return this.#fail(reason);
    this.#attempt.isLost = true;
    this.#host.onLost(this);
    for (const utterance of this.#unfinished()) {
      if (utterance.audio.bytes > 0) utterance.losses += 1;
      if (!utterance.audio.complete) return this.#giveUp(reason, 'too_long');
      if (utterance.losses > LOSSES_MAX) return this.#giveUp(reason, 'too_many_losses');
    }
    void this.#recover(reason);
  }

  async #recover(reason: EngineFailure): Promise<void> {
    this.#replaying ??= Promise.withResolvers<void>();
    const bytes = this.#unfinished().reduce((sum, { audio }) => sum + audio.bytes, 0);
    const inner = await this.#host.reopen(this, { build: bytes === 0 ? null : this.build, bytes });
    if (this.#over || this.#host.isClosed()) void inner?.close();
    if (this.#over) return;
    if (this.#host.isClosed()) return this.#fail('engine_closed');
    if (inner === null) return this.#giveUp(reason, 'no_slot');
    const attempt = new Attempt(inner, this.#first);
    this.#attempt = attempt;
    void this.#listen(attempt);
    const leave = await this.#host.limiter.enter(inner.recogniser);
    const caughtUp = await this.#replay(attempt);
    leave();
    if (caughtUp) this.#host.onReplayed(this);
  }

  /** Sends everything that has no final yet. False when the stream ended or this recogniser was lost as well. */
  async #replay(attempt: Attempt): Promise<boolean> {
    for (;;) {
      if (this.#over || attempt.isLost) return false;
      const { sending } = attempt;
      const piece = sending.audio.read(attempt.sentBytes);
      if (piece !== null) {
        await attempt.write(piece);
      } else if (sending.next === null) {
        // In the same turn, so that audio written from now on goes straight to the recogniser.
        this.#replaying?.resolve();
        this.#replaying = null;
        return true;
      } else {
        attempt.flush();
      }
    }
  }

  #unfinished(): Utterance[] {
    const all: Utterance[] = [];
    for (let one: Utterance | null = this.#first; one !== null; one = one.next) all.push(one);
    return all;
  }

  #giveUp(reason: EngineFailure, why: ReplayFailure): void {
    this.#host.onFailed(why);
    this.#fail(reason);
  }

  #fail(reason: EngineFailure): void {
    this.#queue.fail(reason);
    this.#end();
    void this.#attempt.inner.close();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#closing.abort();
    for (const utterance of this.#unfinished()) utterance.audio.release();
    this.#replaying?.resolve();
    this.#host.onEnd(this);
  }
}

/** Takes a dropped utterance out of the chain, so that a replay does not flush it. */
function unlink(first: Utterance, dropped: Utterance): void {
  for (let one: Utterance | null = first; one !== null; one = one.next) {
    if (one.next === dropped) one.next = dropped.next;
  }
}
