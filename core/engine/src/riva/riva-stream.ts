import { setTimeout as sleep } from 'node:timers/promises';
import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';
import { CallQueue, type HeldCall } from '../call-queue.ts';
import {
  TAKEN,
  type EngineEvent,
  type EngineFailure,
  type EngineStream,
  type Replay,
} from '../engine.ts';
import { EventQueue } from '../event-queue.ts';
import { AUDIO_HEADER_BYTES_MAX, encodeAudio } from '../grpc/audio-codec.ts';
import type { CallEnd, LossCause, PartialText, PeerCall } from './peer-call.ts';
import type { Peer, PeerSlot } from './peer.ts';

const CHUNK_BYTES = CHUNK_SAMPLES * AUDIO.bytesPerSample;
/** Chunks that may wait until the node can take them. */
const CHUNKS_QUEUED_MAX = 2;
/** With more pending calls than this, the caller is ignoring write()'s promise. */
const CALLS_HELD_MAX = 1024;
/** How long an utterance waits until a node accepts it. */
const ACCEPT_WITHIN_MS = 10_000;
const ACCEPT_RETRY_MS = 20;
/** How often an idle stream that lost its slot looks for another one. */
const REGAIN_EVERY_MS = 250;

const FAILURES = {
  disconnected: 'child_died',
  recogniser: 'child_died',
  silent: 'child_stalled',
  deadline: 'deadline_exceeded',
  invalid_answer: 'child_died',
} as const satisfies Record<LossCause, EngineFailure>;

/** Comes before the first chunk of an utterance. */
interface Start {
  readonly keyterms: readonly string[];
}

interface Chunk {
  readonly buffer: Buffer;
  readonly bytes: number;
}

export interface CallRequest {
  readonly peer: Peer;
  readonly replay: Replay;
  readonly keyterms: readonly string[];
  readonly onText: (text: PartialText) => void;
}

export interface StreamHost {
  /** Takes a slot on a node with these weights, or any. Resolves with null if none is free. */
  take(build: string | null, except: Peer | null): Promise<PeerSlot | null>;
  /** The stream holds two slots until this resolves. */
  onMove(moving: Promise<unknown>): void;
  canServe(peer: Peer, build: string | null): boolean;
  /** True if another node has newer weights or much less load. */
  shouldLeave(peer: Peer, build: string | null): boolean;
  begin(request: CallRequest): PeerCall;
  /** The weights that the node uses for this stream's model. */
  buildOf(peer: Peer): string | null;
  /** The slot of a stream that failed. */
  onFailed(slot: PeerSlot): void;
  onEnd(stream: RivaStream): void;
}

interface Current {
  readonly call: PeerCall;
  readonly peer: Peer;
}

/**
 * The gateway's end of one stream. It holds a slot on a node from beginning to end, so that it can speak at any time.
 * Each utterance is a call of its own: a flush closes our half of the call, a reset cancels it.
 */
export class RivaStream implements EngineStream {
  readonly chunkSamples = CHUNK_SAMPLES;
  readonly #host: StreamHost;
  readonly #queue = new EventQueue();
  readonly #closing = new AbortController();
  readonly #held = new CallQueue<Start | Chunk>();
  /** The call that is being made. */
  #making: HeldCall<Start | Chunk> | null = null;
  /** The utterance being placed was dropped. */
  #isDropped = false;
  #chunksQueued = 0;
  #taken: PromiseWithResolvers<void> | null = null;
  /** The chunk being filled, after room for its header. */
  #chunk: Buffer | null = null;
  /** A chunk that was sent, for reuse: a new one for each would keep the garbage collector busy. */
  #spare: Buffer | null = null;
  #filled = 0;
  #hasBegun = false;
  /** The utterance that the node gets now, and how much of it was sent. */
  #utterance = 0;
  #samples = 0;
  #keyterms: readonly string[] = [];
  #slot: PeerSlot;
  #replay: Replay;
  #current: Current | null = null;
  /** The weights of the call whose loss ended this stream. */
  #lostBuild: string | null = null;
  #over = false;

  constructor(host: StreamHost, input: { slot: PeerSlot; replay: Replay }) {
    this.#host = host;
    this.#slot = input.slot;
    this.#replay = input.replay;
    void this.#regain();
  }

  get events(): AsyncIterable<EngineEvent> {
    return this.#queue;
  }

  get build(): string | null {
    if (this.#current === null) return this.#lostBuild;
    return this.#current.call.build ?? this.#host.buildOf(this.#current.peer);
  }

  get recogniser(): string {
    return (this.#current?.peer ?? this.#slot.peer).address;
  }

  write(pcm: Uint8Array): Promise<void> {
    if (pcm.byteLength % AUDIO.bytesPerSample !== 0) {
      return Promise.reject(new RangeError('Audio must be whole 16-bit samples.'));
    }
    if (this.#over || pcm.byteLength === 0) return TAKEN;
    if (!this.#hasBegun) {
      // Opened with its first audio, so that the node is there when the first chunk is complete.
      this.#hasBegun = true;
      this.#hold({ do: 'audio', audio: { keyterms: this.#keyterms } });
    }
    this.#fill(pcm);
    if (this.#chunksQueued <= CHUNKS_QUEUED_MAX || this.#over) return TAKEN;
    this.#taken ??= Promise.withResolvers<void>();
    return this.#taken.promise;
  }

  flush(): void {
    if (this.#over) return;
    this.#holdChunk();
    this.#hasBegun = false;
    this.#hold({ do: 'flush' });
  }

  reset(): void {
    if (this.#over) return;
    for (const part of this.#held.dropUnflushed()) if ('buffer' in part) this.#chunksQueued -= 1;
    this.#chunk = null;
    this.#filled = 0;
    this.#hasBegun = false;
    const isFlushing = this.#held.length > 0 || this.#making?.do === 'flush';
    if (isFlushing) this.#hold({ do: 'reset' });
    else this.#resetNow();
    this.#release();
  }

  /** Each utterance is a call of its own, which begins with its keyterms. */
  expect(keyterms: readonly string[]): void {
    this.#keyterms = keyterms;
  }

  close(): Promise<void> {
    this.#end((slot) => slot.release());
    this.#queue.end();
    return TAKEN;
  }

  fail(reason: EngineFailure): void {
    this.#queue.fail(reason);
    this.#end((slot) => this.#host.onFailed(slot));
  }

  #resetNow(): void {
    this.#isDropped = true;
    this.#cancel();
    this.#nextUtterance();
  }

  #nextUtterance(): void {
    this.#utterance += 1;
    this.#samples = 0;
  }

  #fill(pcm: Uint8Array): void {
    for (let at = 0; at < pcm.byteLength;) {
      this.#chunk ??= this.#takeChunk();
      const end = Math.min(pcm.byteLength, at + CHUNK_BYTES - this.#filled);
      const part = at === 0 && end === pcm.byteLength ? pcm : pcm.subarray(at, end);
      this.#chunk.set(part, AUDIO_HEADER_BYTES_MAX + this.#filled);
      this.#filled += end - at;
      at = end;
      if (this.#filled === CHUNK_BYTES) this.#holdChunk();
    }
  }

  #holdChunk(): void {
    if (this.#chunk === null || this.#filled === 0) return;
    const audio = { buffer: this.#chunk, bytes: this.#filled };
    this.#chunk = null;
    this.#filled = 0;
    this.#chunksQueued += 1;
    this.#hold({ do: 'audio', audio });
  }

  #takeChunk(): Buffer {
    const chunk = this.#spare ?? Buffer.allocUnsafeSlow(AUDIO_HEADER_BYTES_MAX + CHUNK_BYTES);
    this.#spare = null;
    return chunk;
  }

  #hold(call: HeldCall<Start | Chunk>): void {
    this.#held.add(call);
    if (this.#held.length > CALLS_HELD_MAX) return this.fail('queue_overflow');
    if (this.#making === null) void this.#makeHeld();
  }

  async #makeHeld(): Promise<void> {
    for (let call = this.#held.shift(); call !== undefined; call = this.#held.shift()) {
      this.#making = call;
      await this.#make(call);
    }
    this.#making = null;
  }

  #make(call: HeldCall<Start | Chunk>): Promise<void> {
    if (call.do === 'flush') return this.#finish();
    if (call.do === 'audio') {
      return 'buffer' in call.audio ? this.#send(call.audio) : this.#begin(call.audio);
    }
    this.#resetNow();
    return TAKEN;
  }

  /** A stream without a slot fails at once: the replay waits for another one. */
  async #begin(start: Start): Promise<void> {
    const deadlineMs = performance.now() + ACCEPT_WITHIN_MS;
    let refused: Peer | null = null;
    this.#isDropped = false;
    while (!this.#over && !this.#isDropped) {
      const slot = await this.#holdSlot(refused);
      if (this.#over || this.#isDropped) return;
      if (slot === null) return this.fail('child_died');
      const { call, peer } = this.#place(start, slot);
      // Only our own nodes confirm that they took a call. For others we assume it.
      if (!peer.reportsLoad || (await isAccepted(call, deadlineMs))) return;
      refused = peer;
      if (performance.now() > deadlineMs) return this.fail('child_died');
      await sleep(ACCEPT_RETRY_MS, undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  /** Returns the stream's slot, or one on a better node. Null if the slot was lost and no other is free. */
  async #holdSlot(refused: Peer | null): Promise<PeerSlot | null> {
    const held = this.#slot;
    const { peer } = held;
    const { build } = this.#pendingReplay;
    const mayStay = held.isHeld && this.#host.canServe(peer, build);
    if (mayStay && peer !== refused && !this.#host.shouldLeave(peer, build)) return held;
    const moving = this.#move(build, mayStay ? peer : null);
    this.#host.onMove(moving);
    return (await moving) || mayStay ? this.#slot : null;
  }

  /** Takes a slot on another node, then releases the one held until now. Resolves with whether it did. */
  async #move(build: string | null, from: Peer | null): Promise<boolean> {
    const held = this.#slot;
    const taken = await this.#host.take(build, from);
    if (taken === null) return false;
    if (this.#over || this.#slot !== held) {
      taken.release();
      return true;
    }
    this.#slot = taken;
    held.release();
    void this.#regain();
    return true;
  }

  /** Takes another slot when this one is lost, so that streams which are idle then find one when they speak. */
  async #regain(): Promise<void> {
    const held = this.#slot;
    await held.lost;
    while (!this.#over && this.#slot === held) {
      const isIdle = this.#current === null && this.#making === null;
      if (isIdle && (await this.#holdSlot(null)) !== null) return;
      await sleep(REGAIN_EVERY_MS, undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  get #pendingReplay(): Replay {
    return this.#replay.bytes > 0 ? this.#replay : { build: null, bytes: 0 };
  }

  #place({ keyterms }: Start, { peer }: PeerSlot): Current {
    const utterance = this.#utterance;
    const replay = this.#pendingReplay;
    const call = this.#host.begin({
      peer,
      replay,
      keyterms,
      onText: (text) => this.#onText(utterance, call, text),
    });
    const current = { call, peer };
    this.#current = current;
    peer.calls.add(call);
    void call.ended.then((end) => this.#ended(current, end));
    return current;
  }

  async #send({ buffer, bytes }: Chunk): Promise<void> {
    const end = AUDIO_HEADER_BYTES_MAX + bytes;
    const message = encodeAudio(buffer, AUDIO_HEADER_BYTES_MAX, end);
    this.#samples += bytes / AUDIO.bytesPerSample;
    await this.#current?.call.sendAudio(message);
    this.#spare = buffer;
    if (this.#replay.bytes > 0) {
      this.#replay = { ...this.#replay, bytes: Math.max(0, this.#replay.bytes - bytes) };
    }
    this.#chunksQueued -= 1;
    this.#release();
  }

  async #finish(): Promise<void> {
    const utterance = this.#utterance;
    const samples = this.#samples;
    const current = this.#current;
    this.#nextUtterance();
    if (current === null) {
      return this.#push({ type: 'final', utterance, text: '', words: [], samples: 0 });
    }
    current.call.halfClose();
    const end = await current.call.ended;
    if (this.#over || end.end !== 'final') return;
    this.#current = null;
    this.#push({ type: 'final', utterance, text: end.text, words: end.words, samples });
  }

  #onText(utterance: number, call: PeerCall, { text, stableLength, samples }: PartialText): void {
    if (this.#over || this.#current?.call !== call) return;
    this.#push({ type: 'delta', utterance, text, stableLength, samples });
  }

  #ended(current: Current, end: CallEnd): void {
    current.peer.calls.delete(current.call);
    if (end.end === 'lost' && end.why === 'disconnected') current.peer.disconnected();
    if (end.end === 'lost' && end.why === 'invalid_answer') current.peer.distrust();
    if (this.#over || this.#current !== current) return;
    const making = this.#making;
    const isPlacing = making?.do === 'audio' && !('buffer' in making.audio);
    if (end.end === 'final' && making?.do === 'flush') return;
    if (!isPlacing) this.#lostBuild = this.build;
    this.#current = null;
    // A node that was lost or had no slot before it took any audio is simply replaced by another one.
    if (isPlacing && end.end !== 'final') return;
    this.fail(end.end === 'lost' ? FAILURES[end.why] : 'child_died');
  }

  #cancel(): void {
    const current = this.#current;
    this.#current = null;
    if (current === null) return;
    current.peer.calls.delete(current.call);
    current.call.cancel();
  }

  #push(event: EngineEvent): void {
    if (this.#over) return;
    if (this.#queue.push(event) === 'overflow') this.fail('queue_overflow');
  }

  #release(): void {
    if (this.#chunksQueued > CHUNKS_QUEUED_MAX) return;
    this.#taken?.resolve();
    this.#taken = null;
  }

  #end(leave: (slot: PeerSlot) => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#closing.abort();
    this.#cancel();
    this.#held.clear();
    this.#chunk = null;
    this.#spare = null;
    this.#taken?.resolve();
    leave(this.#slot);
    this.#host.onEnd(this);
  }
}

/** A node whose heartbeat works may still answer no call. */
async function isAccepted(call: PeerCall, deadlineMs: number): Promise<boolean> {
  const timer = setTimeout(() => call.giveUp('silent'), deadlineMs - performance.now());
  const accepted = await call.accepted;
  clearTimeout(timer);
  return accepted;
}
