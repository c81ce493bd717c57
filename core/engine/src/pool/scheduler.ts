import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';
import { KeytermTree } from '../keyterms/keyterm-tree.ts';
import { count, noFigures } from './decode-figures.ts';
import { FRAME, type FrameHeader } from './frames.ts';
import type { RecognisedUtterance, Recognition } from '../recognisers/recognition.ts';

/** Clients that send faster than real time get a result per four chunks. Its cost grows with its length (docs/design/scheduling.md). */
const RESULT_EVERY = 4;
const FULL_SCALE = 32_768;
const CHUNK_BYTES = CHUNK_SAMPLES * AUDIO.bytesPerSample;
const CHUNK_MS = (CHUNK_SAMPLES * 1000) / AUDIO.sampleRateHz;
/** A speaker whose network paused may send this much at once and still counts as live. */
const CATCH_UP_MS = 3 * CHUNK_MS;
/**
 * Every fourth round serves streams whose work has waited this long, however much they have used. A stream needs four
 * decodes for its last final, and the gateway gives up after 30 s of silence.
 */
const STARVED_MS = 2_000;
const STARVED_ROUND = 4;
/** Streams whose extra decodes differ by less count as equal. A flush after a second of speech needs more. */
const EXTRA_TOLERATED = 1;
/** How many extra decodes a new or modest stream may use before it counts as equal to the others in line. */
const EXTRA_CREDIT = 3;

interface Slot {
  readonly id: number;
  readonly recognition: Recognition;
  readonly language: string;
  /** Of the utterances that begin from now on. */
  keyterms: KeytermTree | undefined;
  /** The flushed utterances in order, then the current one. */
  readonly parts: Part[];
  /** When a live speaker would have finished the audio sent so far. For a fast sender this is in the future. */
  liveClockMs: number;
  /** Audio still to come that a lost recogniser had already received. */
  replayBytes: number;
  joinedAtMs: number;
  /** Decodes that its audio did not pay for, since the child last caught up. */
  extraDecodes: number;
}

interface Part {
  readonly number: number;
  readonly utterance: RecognisedUtterance;
  flushed: boolean;
  /** Chunks that were sent and not decoded yet. */
  chunksOwed: number;
  decodes: number;
  /** Decodes that its audio did not pay for. */
  extraDecodes: number;
  /** The text that was sent last. */
  sentText: string;
}

type Send = (header: FrameHeader, payload?: string) => void;

/**
 * Decides in the child which audio to decode next. A chunk is due when a live speaker would have finished it. The most
 * overdue chunk goes first, one decode per turn; chunks that aren't due yet wait until none is. So a fast sender gets
 * the time that live streams leave, and a live stream waits for at most one decode of it. While the child is behind,
 * streams whose flushes needed more decodes than their audio pays for wait for the others (docs/design/scheduling.md). Among those that
 * are due, flushed utterances go first (docs/design/scheduling.md).
 */
export class Scheduler {
  readonly figures = noFigures();
  readonly #slots = new Map<number, Slot>();
  readonly #line = new Set<Slot>();
  /** Streams whose last words have not been fetched. */
  readonly #postponed = new Map<Slot, Part>();
  /** Streams whose text so far was asked for, with the number of the question. */
  readonly #peeks = new Map<Slot, number>();
  readonly #send: Send;
  readonly #nowMs: () => number;
  #samples = new Float32Array(CHUNK_SAMPLES);
  #rounds = 0;
  /** The fewest extra decodes in line. It only grows until the child catches up. */
  #extraInLine = 0;

  constructor(send: Send, nowMs: () => number = () => performance.now()) {
    this.#send = send;
    this.#nowMs = nowMs;
  }

  get idle(): boolean {
    return this.#line.size === 0;
  }

  get hasPostponed(): boolean {
    return this.#postponed.size > 0;
  }

  get hasPeeks(): boolean {
    return this.#peeks.size > 0;
  }

  /** Whether the next batch is full. */
  get full(): boolean {
    for (const { recognition } of this.#line) return this.#line.size >= recognition.batchMax;
    return false;
  }

  open(
    id: number,
    input: { readonly recognition: Recognition; readonly language: string; replayBytes?: number },
  ): void {
    const { recognition, language, replayBytes = 0 } = input;
    const slot: Slot = {
      id,
      recognition,
      language,
      keyterms: undefined,
      parts: [],
      liveClockMs: 0,
      replayBytes,
      joinedAtMs: 0,
      extraDecodes: 0,
    };
    slot.parts.push(beginPart(slot, 0));
    this.#slots.set(id, slot);
    this.#send({ type: FRAME.opened, stream: id });
  }

  /** Sets the keyterms from the utterance with this number on, which has no audio yet. */
  keyterms(id: number, from: number, terms: readonly string[]): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    slot.keyterms = new KeytermTree(terms);
    const part = slot.parts.at(-1);
    if (part?.number !== from || part.utterance.samples > 0) return;
    slot.parts[slot.parts.length - 1] = beginPart(slot, from);
  }

  audio(id: number, pcm: Buffer): void {
    const slot = this.#slots.get(id);
    const part = slot?.parts.at(-1);
    if (slot === undefined || part === undefined) return;
    const chunksBefore = chunksIn(part.utterance);
    part.utterance.accept(this.#toFloat(pcm));
    // Replayed audio was spoken in the past. It is overdue and must not look like a client that sends too fast.
    const replayed = Math.min(pcm.length, slot.replayBytes);
    slot.replayBytes -= replayed;
    this.#moveClock(slot, ((pcm.length - replayed) * CHUNK_MS) / CHUNK_BYTES);
    const chunks = chunksIn(part.utterance) - chunksBefore;
    part.chunksOwed += chunks;
    if (chunks > 0) this.#join(slot);
  }

  flush(id: number): void {
    const slot = this.#slots.get(id);
    const part = slot?.parts.at(-1);
    if (slot === undefined || part === undefined) return;
    part.utterance.finish();
    part.flushed = true;
    // A flush costs a decode however little was said, so it counts as one chunk of audio at least.
    const spokenMs = (part.utterance.samples * CHUNK_MS) / CHUNK_SAMPLES;
    this.#moveClock(slot, Math.max(0, CHUNK_MS - spokenMs));
    this.#postponed.delete(slot);
    this.#peeks.delete(slot);
    slot.parts.push(beginPart(slot, part.number + 1));
    this.#join(slot);
  }

  peek(id: number, number: number): void {
    const slot = this.#slots.get(id);
    if (slot?.parts.at(-1)?.utterance.peek !== undefined) this.#peeks.set(slot, number);
  }

  /** Answers one question about the text so far, unless its utterance ends first. Call it when there is nothing to decode. */
  async answerPeek(): Promise<void> {
    const [first] = this.#peeks;
    if (first === undefined) return;
    const [slot, number] = first;
    this.#peeks.delete(slot);
    const part = slot.parts.at(-1);
    const found = await part?.utterance.peek?.();
    if (found === undefined || slot.parts.at(-1) !== part || !this.#slots.has(slot.id)) return;
    const { text, words } = found;
    const samples = part?.utterance.samples;
    const header = { type: FRAME.peeked, stream: slot.id, utterance: number };
    this.#send(header, JSON.stringify({ text, words, samples }));
  }

  #moveClock(slot: Slot, ms: number): void {
    slot.liveClockMs = Math.max(slot.liveClockMs, this.#nowMs() - CATCH_UP_MS) + ms;
  }

  /** Drops the unfinished utterance and returns its credits. Flushed utterances still get their finals. */
  reset(id: number): void {
    const slot = this.#slots.get(id);
    const part = slot?.parts.pop();
    if (slot === undefined || part === undefined) return;
    this.#postponed.delete(slot);
    this.#peeks.delete(slot);
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
    this.#postponed.delete(slot);
    this.#peeks.delete(slot);
  }

  /** Decodes one batch. If it returns a promise, wait for it before the next round. */
  round(): Promise<void> | undefined {
    const batch: { slot: Slot; part: Part }[] = [];
    for (const slot of this.#nextInLine()) {
      const first = batch[0]?.slot ?? slot;
      if (batch.length >= Math.min(first.recognition.batchMax, slot.recognition.batchMax)) break;
      this.#line.delete(slot);
      const part = this.#nextToDecode(slot);
      if (part !== undefined) batch.push({ slot, part });
    }
    if (batch.length === 0) return undefined;
    const beganMs = this.#measureWaits(batch);
    const decoding = decodeTogether(batch.map(({ part }) => part.utterance));
    if (decoding !== undefined) return decoding.then(() => this.#allDecoded(batch, beganMs));
    this.#allDecoded(batch, beganMs);
    return undefined;
  }

  #measureWaits(batch: readonly { slot: Slot }[]): number {
    const nowMs = this.#nowMs();
    count(this.figures, 'batchStreams', batch.length);
    for (const { slot } of batch) {
      count(this.figures, 'waitSeconds', (nowMs - slot.joinedAtMs) / 1000);
    }
    return nowMs;
  }

  /** Sends the postponed words of one stream. Call it when there is nothing to decode. */
  sendPostponed(): void {
    for (const [slot, part] of this.#postponed) {
      return this.#sendText(slot, part, {
        type: FRAME.decoded,
        stream: slot.id,
        utterance: part.number,
      });
    }
  }

  #join(slot: Slot): void {
    if (this.#line.has(slot)) return;
    slot.joinedAtMs = this.#nowMs();
    slot.extraDecodes = Math.max(slot.extraDecodes, this.#extraInLine - EXTRA_CREDIT);
    this.#line.add(slot);
  }

  #nextInLine(): readonly Slot[] {
    this.#rounds += 1;
    const starved = this.#rounds % STARVED_ROUND === 0 ? this.#starved() : [];
    if (starved.length > 0) return starved;
    const line = [...this.#line].map((slot) => ({ slot, dueMs: dueMs(slot) }));
    const nowMs = this.#nowMs();
    const due = line.filter((entry) => entry.dueMs <= nowMs);
    const first = this.#modest(due.length > 0 ? due : line);
    const byDeadline = first.toSorted((a, b) => a.dueMs - b.dueMs).map(({ slot }) => slot);
    return finalsFirst(byDeadline, { waiting: line.length });
  }

  /** Returns the streams with the fewest extra decodes. The others wait, so they don't fill the same batch. */
  #modest<Entry extends { readonly slot: Slot }>(line: readonly Entry[]): Entry[] {
    const fewest = Math.min(...line.map(({ slot }) => slot.extraDecodes));
    this.#extraInLine = Math.max(this.#extraInLine, fewest);
    return line.filter(({ slot }) => slot.extraDecodes <= fewest + EXTRA_TOLERATED);
  }

  #starved(): Slot[] {
    const beforeMs = this.#nowMs() - STARVED_MS;
    return [...this.#line]
      .filter(({ joinedAtMs }) => joinedAtMs <= beforeMs)
      .toSorted((a, b) => a.joinedAtMs - b.joinedAtMs);
  }

  /** Completes utterances that need no more decoding and returns those that do. */
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

  #allDecoded(batch: readonly { slot: Slot; part: Part }[], beganMs: number): void {
    count(this.figures, 'decodeSeconds', (this.#nowMs() - beganMs) / 1000);
    for (const { slot, part } of batch) {
      if (this.#slots.get(slot.id) !== slot) continue;
      // A reset during the decode has already returned the part's credit.
      if (slot.parts.includes(part)) this.#decoded(slot, part);
      else if (slot.parts[0]?.utterance.ready === true) this.#join(slot);
    }
    if (this.idle) this.#forgetExtraDecodes();
  }

  /** A child that has caught up owes nobody anything. */
  #forgetExtraDecodes(): void {
    this.#extraInLine = 0;
    for (const slot of this.#slots.values()) slot.extraDecodes = 0;
  }

  #countExtraDecode(slot: Slot, part: Part): void {
    const paid = part.utterance.samples / CHUNK_SAMPLES + part.extraDecodes;
    const extra = Math.max(0, part.decodes - paid);
    part.extraDecodes += extra;
    slot.extraDecodes += extra;
  }

  #decoded(slot: Slot, part: Part): void {
    part.decodes += 1;
    const credits = Math.min(part.chunksOwed, 1);
    part.chunksOwed -= credits;
    const header = { type: FRAME.decoded, stream: slot.id, utterance: part.number, credits };
    if (part.flushed) {
      this.#countExtraDecode(slot, part);
      this.#send(header);
      // The final of a finished utterance must not wait in line again.
      if (this.#nextToDecode(slot) !== undefined) this.#join(slot);
      return;
    }
    const behind = part.utterance.ready;
    if (behind) this.#join(slot);
    const isFast = behind || slot.liveClockMs > this.#nowMs();
    if (!isFast || part.decodes % RESULT_EVERY === 0) return this.#sendText(slot, part, header);
    this.#postponed.set(slot, part);
    this.#send(header);
  }

  #sendText(slot: Slot, part: Part, header: FrameHeader): void {
    this.#postponed.delete(slot);
    const { text, stableLength } = part.utterance.transcript();
    const sentText = `${stableLength ?? ''} ${text}`;
    if (sentText === part.sentText) return this.#send(header);
    part.sentText = sentText;
    const decoded = part.decodes * CHUNK_SAMPLES - slot.recognition.extraLeadInSamples;
    const samples = Math.min(decoded, part.utterance.samples);
    this.#send(header, JSON.stringify({ text, stableLength, samples }));
  }

  #final(slot: Slot, part: Part): void {
    const { samples } = part.utterance;
    const credits = part.chunksOwed + 1;
    const header = { type: FRAME.final, stream: slot.id, utterance: part.number, credits };
    const { text, words } = part.utterance.transcript();
    this.#send(header, JSON.stringify({ text, words, samples }));
  }

  #toFloat(pcm: Buffer): Float32Array {
    const count = pcm.length / AUDIO.bytesPerSample;
    if (count > this.#samples.length) this.#samples = new Float32Array(count);
    const samples = this.#samples;
    // Audio after a frame of odd length, such as an open, begins between two samples of the buffer.
    const aligned = pcm.byteOffset % AUDIO.bytesPerSample === 0 ? pcm : Buffer.from(pcm);
    const integers = new Int16Array(aligned.buffer, aligned.byteOffset, count);
    for (let at = 0; at < count; at += 1) samples[at] = (integers[at] ?? 0) / FULL_SCALE;
    return samples.subarray(0, count);
  }
}

/**
 * Somebody waits for a final, while words of an utterance that goes on can wait for a decode. Finals even get a batch of
 * their own, which is sooner decoded, while the others still fit into the next one.
 */
function finalsFirst(line: readonly Slot[], { waiting }: { waiting: number }): readonly Slot[] {
  const { finals = [], others = [] } = Object.groupBy(line, ({ parts }) =>
    parts[0]?.flushed === true ? 'finals' : 'others',
  );
  const fits = waiting <= (line[0]?.recognition.batchMax ?? 0);
  return finals.length > 0 && fits ? finals : [...finals, ...others];
}

/** Due time of its first undecoded chunk. */
function dueMs(slot: Slot): number {
  const chunks = slot.parts.reduce((sum, part) => sum + part.chunksOwed, 0);
  return slot.liveClockMs - Math.max(0, chunks - 1) * CHUNK_MS;
}

function chunksIn(utterance: RecognisedUtterance): number {
  return Math.floor(utterance.samples / CHUNK_SAMPLES);
}

function beginPart(slot: Slot, number: number): Part {
  const utterance = slot.recognition.begin(slot.language, slot.keyterms);
  return {
    number,
    utterance,
    flushed: false,
    chunksOwed: 0,
    decodes: 0,
    extraDecodes: 0,
    sentText: ' ',
  };
}

/** One decode call per set of weights. */
function decodeTogether(utterances: readonly RecognisedUtterance[]): Promise<void> | undefined {
  const pending: Promise<void>[] = [];
  for (const [recognition, group] of Map.groupBy(utterances, (one) => one.recognition)) {
    const decoding = recognition.decode(group);
    if (decoding !== undefined) pending.push(decoding);
  }
  return pending.length === 0 ? undefined : settled(pending);
}

async function settled(pending: readonly Promise<void>[]): Promise<void> {
  await Promise.all(pending);
}
