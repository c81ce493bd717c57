import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HOP_SAMPLES } from '../voice-activity/confirmation.ts';
import { EnergyGate } from './energy-gate.ts';
import { arrangeWeights, readSileroWeights } from './silero-weights.ts';

/** The network sees the end of the hop before. */
const CONTEXT_SAMPLES = 64;
const STATE_SIZE = 256;
/** Hops before the gate opened that the network hears too: the quiet start of a word. 96 ms. */
const BEFORE_HOPS = 3;
const KEPT_SAMPLES = CONTEXT_SAMPLES + BEFORE_HOPS * HOP_SAMPLES;
/** Examined at once. With the hops before, HOPS in silero.c. */
export const STEP_SAMPLES = 4 * HOP_SAMPLES;

/** The part of WebAssembly that we use. Node's types leave it out. */
declare const WebAssembly: {
  instantiate(program: Uint8Array): Promise<{ readonly instance: { readonly exports: Exports } }>;
};
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  weights_at(): number;
  audio_at(): number;
  state_at(): number;
  probabilities_at(): number;
  examine(hops: number): void;
}

/** Silero VAD in WebAssembly, for any number of streams. A hop takes less than 0.1 ms. */
export class Silero {
  readonly #audio: Float32Array;
  readonly #state: Float32Array;
  readonly #probabilities: Float32Array;
  readonly #exports: Exports;

  private constructor(exports: Exports, weights: Float32Array) {
    const { buffer } = exports.memory;
    new Float32Array(buffer, exports.weights_at(), weights.length).set(weights);
    this.#audio = new Float32Array(buffer, exports.audio_at(), KEPT_SAMPLES + STEP_SAMPLES);
    this.#state = new Float32Array(buffer, exports.state_at(), STATE_SIZE);
    this.#probabilities = new Float32Array(buffer, exports.probabilities_at());
    this.#exports = exports;
  }

  static async load(): Promise<Silero> {
    const program = await readFile(join(import.meta.dirname, 'silero.wasm'));
    const { instance } = await WebAssembly.instantiate(program);
    return new Silero(instance.exports, arrangeWeights(await readSileroWeights()));
  }

  /**
   * Takes some hops that follow each other, after the end of the hop before, and changes the state. Returns the probability of
   * speech in each, valid until the next call. Hops that are examined together take less time and have the same verdicts.
   */
  examine(audio: Float32Array, state: Float32Array): Float32Array {
    const hops = (audio.length - CONTEXT_SAMPLES) / HOP_SAMPLES;
    this.#audio.set(audio);
    this.#state.set(state);
    this.#exports.examine(hops);
    state.set(this.#state);
    return this.#probabilities.subarray(0, hops);
  }
}

/** What the network knows of one stream. An energy gate leaves silence out. */
export class SileroStream {
  readonly #silero: Pick<Silero, 'examine'>;
  readonly #gate = new EnergyGate();
  readonly #state = new Float32Array(STATE_SIZE);
  /** The last audio of whole hops, and what came after it. */
  readonly #audio = new Float32Array(KEPT_SAMPLES + HOP_SAMPLES + STEP_SAMPLES);
  #filled = KEPT_SAMPLES;
  /** How many of the newest hops the network didn't hear, because the gate was closed. */
  #unheard = 0;

  constructor(silero: Pick<Silero, 'examine'>) {
    this.#silero = silero;
  }

  /** Forgets the audio so far: some of it is missing. */
  restart(): void {
    this.#state.fill(0);
    this.#audio.fill(0);
    this.#filled = KEPT_SAMPLES;
    this.#unheard = 0;
  }

  /** Returns the probability of speech for each hop that these samples complete. 0 where the gate is closed. */
  push(samples: Int16Array): number[] {
    const found: number[] = [];
    for (let from = 0; from < samples.length; from += STEP_SAMPLES) {
      const count = Math.min(samples.length - from, STEP_SAMPLES);
      for (let at = 0; at < count; at += 1) {
        this.#audio[this.#filled + at] = (samples[from + at] ?? 0) / 32_768;
      }
      this.#filled += count;
      this.#complete(found);
    }
    return found;
  }

  /** Lets the network hear the whole hops that the gate lets through, as many at once as follow each other. */
  #complete(found: number[]): void {
    let open = 0;
    let at = KEPT_SAMPLES;
    for (; at + HOP_SAMPLES <= this.#filled; at += HOP_SAMPLES) {
      if (this.#gate.next(this.#audio.subarray(at, at + HOP_SAMPLES))) open += 1;
      else {
        this.#examine(at, open, found);
        open = 0;
        this.#unheard = Math.min(BEFORE_HOPS, this.#unheard + 1);
        found.push(0);
      }
    }
    this.#examine(at, open, found);
    this.#audio.copyWithin(0, at - KEPT_SAMPLES);
    this.#filled -= at - KEPT_SAMPLES;
  }

  #examine(end: number, open: number, found: number[]): void {
    if (open === 0) return;
    const hops = this.#unheard + open;
    const start = end - hops * HOP_SAMPLES - CONTEXT_SAMPLES;
    const probabilities = this.#silero.examine(this.#audio.subarray(start, end), this.#state);
    for (let hop = this.#unheard; hop < hops; hop += 1) found.push(probabilities[hop] ?? 0);
    this.#unheard = 0;
  }
}
