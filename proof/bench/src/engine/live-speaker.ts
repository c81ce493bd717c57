import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { TAKEN, type Engine, type EngineStream } from '@svc-asr/engine';
import { pcmOf, secondsOf, type UtterancePlan } from './utterances.ts';

const FRAME_MS = 100;
const FRAME_BYTES = FRAME_MS * 32;

interface SpeakerOptions {
  /** How many times faster than real time. */
  readonly speed?: number;
  readonly clock?: () => number;
}

/** A stream that sends in real time, or faster, and records when each chunk's words arrive. */
export class LiveSpeaker {
  /** Times from the last sample of a chunk to its delta, by the given clock. */
  readonly lagsMs: number[] = [];
  /** Samples sent so far. */
  spokenS = 0;
  readonly #stream: EngineStream;
  readonly #pcm: Uint8Array;
  readonly #frameEveryMs: number;
  readonly #clock: () => number;
  #nextAtMs: number;
  #position = 0;
  #utterance = 0;
  #chunkDoneAtMs: number[] = [];
  #blocked = false;

  private constructor(stream: EngineStream, pcm: Uint8Array, options: SpeakerOptions) {
    this.#stream = stream;
    this.#pcm = pcm;
    this.#frameEveryMs = FRAME_MS / (options.speed ?? 1);
    this.#clock = options.clock ?? (() => performance.now());
    // Stagger the starts.
    this.#nextAtMs = performance.now() + Math.random() * (CHUNK_SAMPLES / 16);
    void this.#listen();
  }

  static async open(
    engine: Engine,
    plan: UtterancePlan,
    options: SpeakerOptions = {},
  ): Promise<LiveSpeaker> {
    const { signal } = new AbortController();
    const stream = await engine.open({ model: plan.model, signal });
    return new LiveSpeaker(stream, pcmOf(plan), options);
  }

  /** Sends the audio that is due. */
  speak(nowMs: number): void {
    while (this.#nextAtMs <= nowMs && !this.#blocked) {
      this.#nextAtMs += this.#frameEveryMs;
      this.#send(this.#pcm.subarray(this.#position, this.#position + FRAME_BYTES));
    }
  }

  close(): Promise<void> {
    return this.#stream.close();
  }

  #send(frame: Uint8Array): void {
    const chunksBefore = Math.floor(this.#position / 2 / CHUNK_SAMPLES);
    this.#position += frame.length;
    this.spokenS += secondsOf(frame);
    const chunks = Math.floor(this.#position / 2 / CHUNK_SAMPLES);
    if (chunks > chunksBefore) this.#chunkDoneAtMs[chunks] = this.#clock();
    const taken = this.#stream.write(frame);
    if (this.#position >= this.#pcm.length) {
      this.#stream.flush();
      this.#utterance += 1;
      this.#position = 0;
      this.#chunkDoneAtMs = [];
    }
    if (taken !== TAKEN) void this.#wait(taken);
  }

  async #wait(taken: Promise<void>): Promise<void> {
    this.#blocked = true;
    await taken;
    this.#blocked = false;
  }

  async #listen(): Promise<void> {
    for await (const event of this.#stream.events) {
      if (event.type === 'error') throw new Error(event.reason);
      if (event.type !== 'delta' || event.utterance !== this.#utterance) continue;
      const doneAtMs = this.#chunkDoneAtMs[event.samples / CHUNK_SAMPLES];
      if (doneAtMs !== undefined) this.lagsMs.push(this.#clock() - doneAtMs);
    }
  }
}

const TICK_MS = 5;

/** Runs all streams for the given time. */
export function speakFor(speakers: readonly LiveSpeaker[], ms: number): Promise<void> {
  const endMs = performance.now() + ms;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const nowMs = performance.now();
      for (const speaker of speakers) speaker.speak(nowMs);
      if (nowMs < endMs) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
}
