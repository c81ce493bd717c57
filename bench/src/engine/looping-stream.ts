import type { EngineEvent, SherpaEngine } from '@svc-asr/engine';
import { pcmOf, type UtterancePlan } from './utterances.ts';

type PooledStream = Awaited<ReturnType<SherpaEngine['open']>>;

/** About two chunks a second, like a live speaker without pauses. */
const PACE_MS = 50;
const FRAME_BYTES = 3_200;

/** Streams one utterance repeatedly and checks every result, until its child is lost. */
export class LoopingStream {
  finals = 0;
  /** Results that differ from the bare recogniser's, and events after an error. */
  wrong = 0;
  /** Time of the error. */
  errorAt: Promise<number> = Promise.resolve(0);
  readonly #engine: SherpaEngine;
  readonly #expected: string;
  readonly #plan: UtterancePlan;
  readonly #pcm: Uint8Array;
  #stream: PooledStream | undefined;
  #timer: NodeJS.Timeout | undefined;
  #waiting: ((came: boolean) => void)[] = [];

  constructor(input: { engine: SherpaEngine; plan: UtterancePlan; expected: string }) {
    this.#engine = input.engine;
    this.#plan = input.plan;
    this.#expected = input.expected;
    this.#pcm = pcmOf(input.plan);
  }

  get childPid(): number {
    return this.#stream?.childPid ?? 0;
  }

  async open(): Promise<void> {
    const { signal } = new AbortController();
    const stream = await this.#engine.open({ model: this.#plan.model, signal });
    this.#stream = stream;
    this.errorAt = this.#listen(stream.events);
    this.#talk(stream);
  }

  /** Returns false if an error arrived instead. */
  nextFinal(): Promise<boolean> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#stream?.close();
  }

  #talk(stream: PooledStream): void {
    let at = Math.floor(Math.random() * 4) * FRAME_BYTES;
    let late = false;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      if (late) return;
      late = true;
      void stream.write(this.#pcm.subarray(at, at + FRAME_BYTES)).then(() => (late = false));
      at += FRAME_BYTES;
      if (at < this.#pcm.length) return;
      stream.flush();
      at = 0;
    }, PACE_MS);
  }

  async #listen(events: AsyncIterable<EngineEvent>): Promise<number> {
    let errorAtMs = Number.NaN;
    for await (const event of events) {
      if (!Number.isNaN(errorAtMs)) this.wrong += 1;
      if (event.type === 'error') {
        errorAtMs = performance.now();
        clearInterval(this.#timer);
        this.#notice(false);
      } else if (event.type === 'final') {
        this.finals += 1;
        // The first utterance starts at a random position.
        if (event.utterance > 0 && event.text !== this.#expected) this.wrong += 1;
        this.#notice(true);
      }
    }
    return errorAtMs;
  }

  #notice(came: boolean): void {
    for (const resolve of this.#waiting) resolve(came);
    this.#waiting = [];
  }
}
