import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol';
import { FRAME, type FrameHeader } from './frames.ts';
import type { Recogniser, Utterance } from './recogniser.ts';

/** Larger batches decode no faster and make everybody wait for the whole of them (measured: docs/adr). */
const BATCH_MAX = 8;
const FULL_SCALE = 32_768;
const BYTES_PER_CHUNK = CHUNK_SAMPLES * AUDIO.bytesPerSample;

interface Slot {
  readonly id: number;
  readonly recogniser: Recogniser;
  readonly language: string;
  /** Flushed ones in order, then the one that audio goes to. */
  readonly parts: Part[];
  queued: boolean;
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
 * Decides in the child whose audio is decoded next: every stream with work stands in one line, gets one decode, and
 * goes to its end. However much a fast sender has queued, a live stream waits for one decode of it at most.
 */
export class Scheduler {
  readonly #slots = new Map<number, Slot>();
  readonly #line: Slot[] = [];
  readonly #send: Send;
  #samples = new Float32Array(CHUNK_SAMPLES);

  constructor(send: Send) {
    this.#send = send;
  }

  get idle(): boolean {
    return this.#line.length === 0;
  }

  open(id: number, recogniser: Recogniser, language: string): void {
    const slot: Slot = { id, recogniser, language, parts: [], queued: false };
    slot.parts.push(beginPart(slot, 0));
    this.#slots.set(id, slot);
    this.#send({ type: FRAME.opened, stream: id });
  }

  audio(id: number, pcm: Buffer): void {
    const slot = this.#slots.get(id);
    const part = slot?.parts.at(-1);
    if (slot === undefined || part === undefined) return;
    part.utterance.accept(this.#toFloat(pcm));
    if (pcm.length === BYTES_PER_CHUNK) part.chunksOwed += 1;
    this.#queue(slot);
  }

  flush(id: number): void {
    const slot = this.#slots.get(id);
    const part = slot?.parts.at(-1);
    if (slot === undefined || part === undefined) return;
    part.utterance.finish();
    part.flushed = true;
    slot.parts.push(beginPart(slot, part.number + 1));
    this.#queue(slot);
  }

  /** Flushed utterances are still answered; the unfinished one is forgotten and its chunks are given back. */
  reset(id: number): void {
    const slot = this.#slots.get(id);
    const part = slot?.parts.pop();
    if (slot === undefined || part === undefined) return;
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
    slot.parts.length = 0;
  }

  /** One decode for each of the first in line. */
  round(): void {
    const batch: { slot: Slot; part: Part }[] = [];
    let waiting = this.#line.length;
    while (waiting > 0 && batch.length < BATCH_MAX) {
      waiting -= 1;
      const slot = this.#line.shift();
      if (slot === undefined) break;
      slot.queued = false;
      const part = this.#nextToDecode(slot);
      if (part !== undefined) batch.push({ slot, part });
    }
    decodeTogether(batch.map(({ part }) => part.utterance));
    for (const { slot, part } of batch) this.#decoded(slot, part);
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
    const more = part.utterance.ready;
    const header = { type: FRAME.decoded, stream: slot.id, utterance: part.number, credits };
    if (more || part.flushed) {
      // Behind: the result of the last decode says it all, and asking for one costs more the longer it is.
      if (credits > 0) this.#send(header);
      this.#queue(slot);
      return;
    }
    const { text, words } = part.utterance.transcript();
    if (text === part.said) return this.#send(header);
    part.said = text;
    const samples = Math.min(part.decodes * CHUNK_SAMPLES, part.utterance.samples);
    this.#send(header, JSON.stringify({ text, words, samples }));
  }

  #final(slot: Slot, part: Part): void {
    const { samples } = part.utterance;
    const said = samples === 0 ? { text: '', words: [] } : part.utterance.transcript();
    const credits = part.chunksOwed + 1;
    const header = { type: FRAME.final, stream: slot.id, utterance: part.number, credits };
    this.#send(header, JSON.stringify({ ...said, samples }));
  }

  #queue(slot: Slot): void {
    if (slot.queued) return;
    slot.queued = true;
    this.#line.push(slot);
  }

  #toFloat(pcm: Buffer): Float32Array {
    const count = pcm.length / AUDIO.bytesPerSample;
    if (count > this.#samples.length) this.#samples = new Float32Array(count);
    const samples = this.#samples;
    for (let at = 0; at < count; at += 1) samples[at] = pcm.readInt16LE(at * 2) / FULL_SCALE;
    return samples.subarray(0, count);
  }
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
