import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol';
import { FRAME, type FrameHeader } from './frames.ts';
import type { Recogniser, Utterance } from './recogniser.ts';

/** Larger batches decode no faster and make everybody wait for the whole of them (ADR 0012). */
const BATCH_MAX = 8;
/** Who sends faster than speech gets the words of every fourth chunk: a result costs as much as it is long (ADR 0012). */
const RESULT_EVERY = 4;
const FULL_SCALE = 32_768;
const CHUNK_BYTES = CHUNK_SAMPLES * AUDIO.bytesPerSample;
const CHUNK_MS = (CHUNK_SAMPLES * 1000) / AUDIO.sampleRateHz;
/** A speaker whose network paused may send this much at once and still counts as live. */
const CATCH_UP_MS = 3 * CHUNK_MS;

interface Slot {
  readonly id: number;
  readonly recogniser: Recogniser;
  readonly language: string;
  /** Flushed ones in order, then the one that audio goes to. */
  readonly parts: Part[];
  /** When somebody speaking live would have said all that was sent. A fast sender's runs ahead of the clock. */
  liveClockMs: number;
}

interface Part {
  readonly number: number;
  readonly utterance: Utterance;
  flushed: boolean;
  /** Chunks that were sent and not decoded yet. */
  chunksOwed: number;
  decodes: number;
  said: string;
}

type Send = (header: FrameHeader, payload?: string) => void;

/**
 * Decides in the child whose audio is decoded next. A chunk is due when somebody speaking live would have finished
 * it; what is due longest goes first, one decode a turn, and what is not due yet only when nothing is. So a fast
 * sender has the time that live streams leave, and however much it has queued they wait for one decode of it at most.
 */
export class Scheduler {
  readonly #slots = new Map<number, Slot>();
  readonly #line = new Set<Slot>();
  /** Whose last words were not fetched yet. */
  readonly #unsaid = new Map<Slot, Part>();
  readonly #send: Send;
  readonly #nowMs: () => number;
  #samples = new Float32Array(CHUNK_SAMPLES);

  constructor(send: Send, nowMs: () => number = () => performance.now()) {
    this.#send = send;
    this.#nowMs = nowMs;
  }

  get idle(): boolean {
    return this.#line.size === 0;
  }

  get unsaid(): boolean {
    return this.#unsaid.size > 0;
  }

  /** More input would not make the next batch larger. */
  get full(): boolean {
    return this.#line.size >= BATCH_MAX;
  }

  open(id: number, recogniser: Recogniser, language: string): void {
    const slot: Slot = { id, recogniser, language, parts: [], liveClockMs: 0 };
    slot.parts.push(beginPart(slot, 0));
    this.#slots.set(id, slot);
    this.#send({ type: FRAME.opened, stream: id });
  }

  audio(id: number, pcm: Buffer): void {
    const slot = this.#slots.get(id);
    const part = slot?.parts.at(-1);
    if (slot === undefined || part === undefined) return;
    const chunksBefore = chunksIn(part.utterance);
    part.utterance.accept(this.#toFloat(pcm));
    const spokenMs = (pcm.length * CHUNK_MS) / CHUNK_BYTES;
    slot.liveClockMs = Math.max(slot.liveClockMs, this.#nowMs() - CATCH_UP_MS) + spokenMs;
    const chunks = chunksIn(part.utterance) - chunksBefore;
    part.chunksOwed += chunks;
    if (chunks > 0) this.#line.add(slot);
  }

  flush(id: number): void {
    const slot = this.#slots.get(id);
    const part = slot?.parts.at(-1);
    if (slot === undefined || part === undefined) return;
    part.utterance.finish();
    part.flushed = true;
    this.#unsaid.delete(slot);
    slot.parts.push(beginPart(slot, part.number + 1));
    this.#line.add(slot);
  }

  /** Flushed utterances are still answered; the unfinished one is forgotten and its chunks are given back. */
  reset(id: number): void {
    const slot = this.#slots.get(id);
    const part = slot?.parts.pop();
    if (slot === undefined || part === undefined) return;
    this.#unsaid.delete(slot);
    if (part.chunksOwed > 0) {
      const credits = part.chunksOwed;
      this.#send({ type: FRAME.decoded, stream: id, utterance: part.number, credits });
    }
    slot.parts.push(beginPart(slot, part.number + 1));
  }

  close(id: number): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#slots.delete(id);
    this.#line.delete(slot);
    this.#unsaid.delete(slot);
  }

  /** One decode for each of those who are first. */
  round(): void {
    const batch: { slot: Slot; part: Part }[] = [];
    for (const slot of this.#nextInLine()) {
      if (batch.length === BATCH_MAX) break;
      this.#line.delete(slot);
      const part = this.#nextToDecode(slot);
      if (part !== undefined) batch.push({ slot, part });
    }
    decodeTogether(batch.map(({ part }) => part.utterance));
    for (const { slot, part } of batch) this.#decoded(slot, part);
  }

  /** There is time for words that were held back: those of one stream. */
  sayUnsaid(): void {
    for (const [slot, part] of this.#unsaid) {
      return this.#say(slot, part, {
        type: FRAME.decoded,
        stream: slot.id,
        utterance: part.number,
      });
    }
  }

  #nextInLine(): Slot[] {
    const line = [...this.#line].map((slot) => ({ slot, dueMs: dueMs(slot) }));
    const nowMs = this.#nowMs();
    const due = line.filter((entry) => entry.dueMs <= nowMs);
    const first = due.length > 0 ? due : line;
    return first.toSorted((a, b) => a.dueMs - b.dueMs).map(({ slot }) => slot);
  }

  /** Answers what needs no decode any more and says what does. */
  #nextToDecode(slot: Slot): Part | undefined {
    for (;;) {
      const part = slot.parts[0];
      if (part === undefined) return undefined;
      if (part.utterance.ready) return part;
      if (!part.flushed) return undefined;
      this.#final(slot, part);
      slot.parts.shift();
    }
  }

  #decoded(slot: Slot, part: Part): void {
    part.decodes += 1;
    const credits = Math.min(part.chunksOwed, 1);
    part.chunksOwed -= credits;
    const behind = part.utterance.ready;
    if (behind || part.flushed) this.#line.add(slot);
    const header = { type: FRAME.decoded, stream: slot.id, utterance: part.number, credits };
    if (part.flushed) return this.#send(header);
    const isFast = behind || slot.liveClockMs > this.#nowMs();
    if (!isFast || part.decodes % RESULT_EVERY === 0) return this.#say(slot, part, header);
    this.#unsaid.set(slot, part);
    this.#send(header);
  }

  #say(slot: Slot, part: Part, header: FrameHeader): void {
    this.#unsaid.delete(slot);
    const { text, words } = part.utterance.transcript();
    if (text === part.said) return this.#send(header);
    part.said = text;
    const samples = Math.min(part.decodes * CHUNK_SAMPLES, part.utterance.samples);
    this.#send(header, JSON.stringify({ text, words, samples }));
  }

  #final(slot: Slot, part: Part): void {
    const { samples } = part.utterance;
    const credits = part.chunksOwed + 1;
    const header = { type: FRAME.final, stream: slot.id, utterance: part.number, credits };
    this.#send(header, JSON.stringify({ ...part.utterance.transcript(), samples }));
  }

  #toFloat(pcm: Buffer): Float32Array {
    const count = pcm.length / AUDIO.bytesPerSample;
    if (count > this.#samples.length) this.#samples = new Float32Array(count);
    const samples = this.#samples;
    // Every frame is a whole number of samples long, so each begins on one.
    const integers = new Int16Array(pcm.buffer, pcm.byteOffset, count);
    for (let at = 0; at < count; at += 1) samples[at] = (integers[at] ?? 0) / FULL_SCALE;
    return samples.subarray(0, count);
  }
}

/** Of the first of its chunks that are not decoded. */
function dueMs(slot: Slot): number {
  const chunks = slot.parts.reduce((sum, part) => sum + part.chunksOwed, 0);
  return slot.liveClockMs - Math.max(0, chunks - 1) * CHUNK_MS;
}

function chunksIn(utterance: Utterance): number {
  return Math.floor(utterance.samples / CHUNK_SAMPLES);
}

function beginPart(slot: Slot, number: number): Part {
  const utterance = slot.recogniser.begin(slot.language);
  return { number, utterance, flushed: false, chunksOwed: 0, decodes: 0, said: '' };
}

/** One native call for each set of weights, or one for each utterance where weights cannot be batched. */
function decodeTogether(utterances: readonly Utterance[]): void {
  const groups = Map.groupBy(utterances, ({ recogniser }) => recogniser);
  for (const [recogniser, group] of groups) {
    if (recogniser.batching) recogniser.decode(group);
    else for (const utterance of group) recogniser.decode([utterance]);
  }
}
