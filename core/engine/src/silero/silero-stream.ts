import { HOP_SAMPLES } from '../voice-activity/confirmation.ts';
import { EnergyGate } from './energy-gate.ts';

/** The model sees the end of the hop before. */
const CONTEXT_SAMPLES = 64;
export const INPUT_SAMPLES = CONTEXT_SAMPLES + HOP_SAMPLES;
export const STATE_SIZE = 128;
/** Hops before the gate opened that the model hears too: the quiet start of a word. 96 ms. */
const BEFORE_HOPS = 3;

/** A hop for the model, or null where the gate is closed. */
export interface Hop {
  readonly input: Float32Array;
  /** Its probability is part of the answer. False for hops that only prepare the model. */
  readonly isAsked: boolean;
}

/** What the model knows of one stream. */
export class SileroStream {
  /** The model's two layers. */
  readonly state = new Float32Array(2 * STATE_SIZE);
  readonly #gate = new EnergyGate();
  readonly #partial = new Float32Array(HOP_SAMPLES);
  #context = new Float32Array(CONTEXT_SAMPLES);
  #before: Float32Array[] = [];
  #filled = 0;

  /** Forgets the audio so far: some of it is missing. */
  restart(): void {
    this.state.fill(0);
    this.#context.fill(0);
    this.#before = [];
    this.#filled = 0;
  }

  /** Returns the hops that these samples complete: null where the gate is closed. */
  push(samples: Int16Array): (Hop | null)[] {
    const hops: (Hop | null)[] = [];
    for (const sample of samples) {
      this.#partial[this.#filled++] = sample / 32_768;
      if (this.#filled < HOP_SAMPLES) continue;
      this.#filled = 0;
      this.#complete(hops);
    }
    return hops;
  }

  #complete(hops: (Hop | null)[]): void {
    const input = new Float32Array(INPUT_SAMPLES);
    input.set(this.#context);
    input.set(this.#partial, CONTEXT_SAMPLES);
    this.#context = input.slice(-CONTEXT_SAMPLES);
    if (this.#gate.next(this.#partial)) {
      for (const earlier of this.#before) hops.push({ input: earlier, isAsked: false });
      this.#before = [];
      hops.push({ input, isAsked: true });
    } else {
      this.#before = [...this.#before, input].slice(-BEFORE_HOPS);
      hops.push(null);
    }
  }
}
