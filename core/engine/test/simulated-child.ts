import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol';
import { ChunkBuffers } from '../src/pool/chunk-buffers.ts';
import { FRAME, HEADER_BYTES, type FrameHeader } from '../src/pool/frames.ts';
import { PooledStream } from '../src/pool/pooled-stream.ts';
import type { RecognisedUtterance, Recognition } from '../src/recognisers/recognition.ts';
import { Scheduler } from '../src/pool/scheduler.ts';

/** Silence that the recogniser adds at a flush. */
const TAIL_SAMPLES = 20_800;
const FRAME_MS = 200;
/** A stream's credit for a pause of its network ends at the clock's zero, so the clock begins long after it. */
const BEGAN_MS = 1_000_000;
const FRAME_BYTES = (FRAME_MS * AUDIO.sampleRateHz * AUDIO.bytesPerSample) / 1000;

/** A client that sends speech in real time. */
export interface SimulatedClient {
  /** When it sends its first frame. */
  readonly fromMs: number;
  /** Frames of 200 ms from one flush to the next. Infinity: never flushes. */
  readonly framesPerFlush: number;
  /** Whether it waits for its final after each flush. Then it sends the audio of that time at once. */
  readonly waits?: boolean;
}

export interface SimulatedLoad {
  readonly clients: readonly SimulatedClient[];
  readonly forMs: number;
  readonly batchMax: number;
  /** Duration of a decode of that many utterances. */
  readonly decodeMs: (utterances: number) => number;
}

/**
 * Runs a child's scheduler and the parent's ends of its streams in virtual time: only decodes take time. Returns, for
 * each client, the waits from its flushes to their finals.
 */
export function simulate(load: SimulatedLoad, Rule: typeof Scheduler = Scheduler): number[][] {
  const child = new SimulatedChild(load, Rule);
  const clients = load.clients.map((client, at) => ({
    ...client,
    at,
    frames: 0,
    nextMs: BEGAN_MS + client.fromMs,
  }));
  for (const { at } of clients) child.open(at + 1);
  const endMs = BEGAN_MS + load.forMs;
  for (;;) {
    const waiting = clients.filter(({ at, waits }) => waits !== true || !child.awaitsFinal(at + 1));
    const next = waiting.toSorted((a, b) => a.nextMs - b.nextMs)[0];
    if (next !== undefined && next.nextMs <= child.nowMs && child.nowMs < endMs) {
      next.frames += 1;
      const sentAtMs = next.waits === true ? child.nowMs : next.nextMs;
      child.speak(next.at + 1);
      if (next.frames % next.framesPerFlush === 0) child.flush(next.at + 1, sentAtMs);
      next.nextMs += FRAME_MS;
    } else if (!child.idle) child.round();
    else if (next !== undefined && next.nextMs < endMs) child.nowMs = next.nextMs;
    else return clients.map(({ at }) => child.waitsMs(at + 1));
  }
}

class SimulatedChild {
  nowMs = BEGAN_MS;
  readonly #scheduler: Scheduler;
  readonly #recognition: Recognition;
  readonly #streams = new Map<
    number,
    { stream: PooledStream; flushedAtMs: number[]; waitsMs: number[] }
  >();
  /** Frames on their way to the parent. They are delivered after the round. */
  #sent: { header: FrameHeader; payload: string }[] = [];

  constructor({ batchMax, decodeMs }: SimulatedLoad, Rule: typeof Scheduler) {
    this.#scheduler = new Rule(
      (header, payload = '') => this.#sent.push({ header, payload }),
      () => this.nowMs,
    );
    this.#recognition = {
      batchMax,
      extraLeadInSamples: 0,
      streamsMade: 0,
      liveStreams: 1,
      begin: () => new SimulatedUtterance(this.#recognition),
      decode: (utterances) => {
        this.nowMs += decodeMs(utterances.length);
        for (const utterance of utterances) {
          if (utterance instanceof SimulatedUtterance) utterance.decoded += 1;
        }
        return undefined;
      },
    };
  }

  get idle(): boolean {
    return this.#scheduler.idle;
  }

  open(id: number): void {
    const stream = new PooledStream({
      id,
      childPid: 1,
      build: '',
      buffers: new ChunkBuffers(),
      isCrowded: () => false,
      send: (type) => {
        if (type === FRAME.flush) this.#scheduler.flush(id);
        else throw new Error('The parent gave the stream up.');
      },
      sendKeyterms: () => {},
      sendChunk: (buffer, bytes) => this.#scheduler.audio(id, buffer.subarray(HEADER_BYTES, bytes)),
      release: () => {},
    });
    this.#streams.set(id, { stream, flushedAtMs: [], waitsMs: [] });
    this.#scheduler.open(id, { recognition: this.#recognition, language: '' });
    this.#sent = [];
  }

  speak(id: number): void {
    void this.#streams.get(id)?.stream.write(new Uint8Array(FRAME_BYTES));
  }

  flush(id: number, sentAtMs: number): void {
    const entry = this.#streams.get(id);
    entry?.flushedAtMs.push(sentAtMs);
    entry?.stream.flush();
  }

  round(): void {
    void this.#scheduler.round();
    const sent = this.#sent;
    this.#sent = [];
    for (const { header, payload } of sent) {
      const { type, stream = 0, utterance = 0, credits = 0 } = header;
      const entry = this.#streams.get(stream);
      const flushedAtMs = type === FRAME.final ? entry?.flushedAtMs.shift() : undefined;
      if (flushedAtMs !== undefined) entry?.waitsMs.push(this.nowMs - flushedAtMs);
      entry?.stream.receive({ type, stream, utterance, credits, payload: Buffer.from(payload) });
    }
  }

  awaitsFinal(id: number): boolean {
    return this.#streams.get(id)?.flushedAtMs.length !== 0;
  }

  waitsMs(id: number): number[] {
    return this.#streams.get(id)?.waitsMs ?? [];
  }
}

class SimulatedUtterance implements RecognisedUtterance {
  readonly recognition: Recognition;
  samples = 0;
  decoded = 0;
  #finished = false;

  constructor(recognition: Recognition) {
    this.recognition = recognition;
  }

  get ready(): boolean {
    if (this.samples === 0) return false;
    const samples = this.samples + (this.#finished ? TAIL_SAMPLES : 0);
    return this.decoded < Math.floor(samples / CHUNK_SAMPLES);
  }

  accept(samples: Float32Array): void {
    this.samples += samples.length;
  }

  finish(): void {
    this.#finished = true;
  }

  transcript(): { text: string; words: [] } {
    return { text: '', words: [] };
  }
}
