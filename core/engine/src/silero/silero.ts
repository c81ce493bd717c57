import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HOP_SAMPLES } from '../voice-activity/confirmation.ts';
import { EnergyGate } from './energy-gate.ts';
import { arrangeWeights, readSileroWeights } from './silero-weights.ts';

/** The network sees the end of the hop before. */
const CONTEXT_SAMPLES = 64;
const INPUT_SAMPLES = CONTEXT_SAMPLES + HOP_SAMPLES;
const STATE_SIZE = 256;
/** Hops before the gate opened that the network hears too: the quiet start of a word. 96 ms. */
const BEFORE_HOPS = 3;

/** The part of WebAssembly that we use. Node's types leave it out. */
declare const WebAssembly: {
  instantiate(program: Uint8Array): Promise<{ readonly instance: { readonly exports: Exports } }>;
};
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  weights_at(): number;
  input_at(): number;
  state_at(): number;
  hop(): number;
}

/** Silero VAD in WebAssembly, for any number of streams. A hop takes less than 0.1 ms. */
export class Silero {
  readonly #input: Float32Array;
  readonly #state: Float32Array;
  readonly #exports: Exports;

  private constructor(exports: Exports, weights: Float32Array) {
    const { buffer } = exports.memory;
    new Float32Array(buffer, exports.weights_at(), weights.length).set(weights);
    this.#input = new Float32Array(buffer, exports.input_at(), INPUT_SAMPLES);
    this.#state = new Float32Array(buffer, exports.state_at(), STATE_SIZE);
    this.#exports = exports;
  }

  static async load(): Promise<Silero> {
    const program = await readFile(join(import.meta.dirname, 'silero.wasm'));
    const { instance } = await WebAssembly.instantiate(program);
    return new Silero(instance.exports, arrangeWeights(await readSileroWeights()));
  }

  /** Returns the probability of speech in the newest hop of the input, and changes the state. */
  hop(input: Float32Array, state: Float32Array): number {
    this.#input.set(input);
    this.#state.set(state);
    const probability = this.#exports.hop();
    state.set(this.#state);
    return probability;
  }
}

/** What the network knows of one stream. An energy gate leaves silence out. */
export class SileroStream {
  readonly #silero: Pick<Silero, 'hop'>;
  readonly #gate = new EnergyGate();
  readonly #state = new Float32Array(STATE_SIZE);
  readonly #input = new Float32Array(INPUT_SAMPLES);
  #before: Float32Array[] = [];
  #filled = CONTEXT_SAMPLES;

  constructor(silero: Pick<Silero, 'hop'>) {
    this.#silero = silero;
  }

  /** Forgets the audio so far: some of it is missing. */
  restart(): void {
    this.#state.fill(0);
    this.#input.fill(0);
    this.#before = [];
    this.#filled = CONTEXT_SAMPLES;
  }

  /** Returns the probability of speech for each hop that these samples complete. 0 where the gate is closed. */
  push(samples: Int16Array): number[] {
    const found: number[] = [];
    for (let at = 0; at < samples.length; at += 1) {
      this.#input[this.#filled++] = (samples[at] ?? 0) / 32_768;
      if (this.#filled < INPUT_SAMPLES) continue;
      found.push(this.#complete());
      this.#input.copyWithin(0, HOP_SAMPLES);
      this.#filled = CONTEXT_SAMPLES;
    }
    return found;
  }

  #complete(): number {
    if (this.#gate.next(this.#input.subarray(CONTEXT_SAMPLES))) {
      for (const earlier of this.#before.splice(0)) this.#silero.hop(earlier, this.#state);
      return this.#silero.hop(this.#input, this.#state);
    }
    this.#before = [...this.#before, this.#input.slice()].slice(-BEFORE_HOPS);
    return 0;
  }
}
