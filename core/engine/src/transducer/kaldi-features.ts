import { appendSamples } from '../append-samples.ts';
import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { powerSpectrum } from './power-spectrum.ts';

export const MELS = 80;
export const MEL_FRAME_SAMPLES = AUDIO.sampleRateHz / 100;

const WINDOW = AUDIO.sampleRateHz / 40;
const FFT = 512;
/** A frame begins this many samples before its ten milliseconds, so that they are in its middle. */
const BEFORE = (WINDOW - MEL_FRAME_SAMPLES) / 2;
const EMPHASIS = 0.97;
const LOWEST_HZ = 20;
const HIGHEST_HZ = 7_600;
const POWER_FLOOR = 1.1920928955078125e-7;

/** A triangle over some bins of the spectrum. */
interface Filter {
  readonly firstBin: number;
  readonly weights: Float64Array;
}

const NO_FILTER: Filter = { firstBin: 0, weights: new Float64Array(0) };

/** Computes Kaldi's filter banks, on which icefall models are trained, while audio arrives. Their values don't depend on how it is split. */
export class KaldiFeatures {
  /** Audio that later frames still need, and its position in the utterance. */
  #audio = new Float32Array(0);
  #audioFrom = 0;
  readonly #rows: Float32Array[] = [];
  #forgotten = 0;

  /** A copy that goes its own way. */
  fork(): KaldiFeatures {
    const copy = new KaldiFeatures();
    copy.#audio = this.#audio.slice();
    copy.#audioFrom = this.#audioFrom;
    copy.#rows.push(...this.#rows);
    copy.#forgotten = this.#forgotten;
    return copy;
  }

  /** How many frames there are. */
  get count(): number {
    return this.#forgotten + this.#rows.length;
  }

  accept(samples: Float32Array): void {
    this.#audio = appendSamples(this.#audio, samples);
    const end = this.#audioFrom + this.#audio.length;
    while (startOf(this.count) + WINDOW <= end) this.#rows.push(this.#compute(this.count));
    const needed = Math.max(this.#audioFrom, startOf(this.count));
    this.#audio = this.#audio.slice(needed - this.#audioFrom);
    this.#audioFrom = needed;
  }

  /** The frames from `from` on, row by row. */
  read(from: number, count: number): Float32Array<ArrayBuffer> {
    const values = new Float32Array(count * MELS);
    for (let at = 0; at < count; at += 1) {
      const row = this.#rows[from - this.#forgotten + at];
      if (row === undefined) throw new RangeError('There is no such frame yet, or no longer.');
      values.set(row, at * MELS);
    }
    return values;
  }

  forget(before: number): void {
    this.#rows.splice(0, Math.max(0, before - this.#forgotten));
    this.#forgotten = Math.max(this.#forgotten, before);
  }

  #compute(frame: number): Float32Array {
    const from = startOf(frame);
    const window = new Float64Array(FFT);
    let sum = 0;
    for (let at = 0; at < WINDOW; at += 1) {
      const place = from + at;
      // Before the utterance, its beginning is mirrored.
      const value = this.#audio[(place < 0 ? -place - 1 : place) - this.#audioFrom] ?? 0;
      window[at] = value;
      sum += value;
    }
    const mean = sum / WINDOW;
    for (let at = 0; at < WINDOW; at += 1) window[at] = (window[at] ?? 0) - mean;
    for (let at = WINDOW - 1; at >= 0; at -= 1) {
      const earlier = window[Math.max(0, at - 1)] ?? 0;
      window[at] = ((window[at] ?? 0) - EMPHASIS * earlier) * (POVEY[at] ?? 0);
    }
    return filtered(powerSpectrum(window));
  }
}

function startOf(frame: number): number {
  return frame * MEL_FRAME_SAMPLES - BEFORE;
}

function filtered(power: Float64Array): Float32Array {
  const row = new Float32Array(MELS);
  for (let mel = 0; mel < MELS; mel += 1) {
    const { firstBin, weights } = FILTERS[mel] ?? NO_FILTER;
    let sum = 0;
    for (let at = 0; at < weights.length; at += 1) {
      sum += (weights[at] ?? 0) * (power[firstBin + at] ?? 0);
    }
    row[mel] = Math.log(Math.max(sum, POWER_FLOOR));
  }
  return row;
}

const POVEY = Float64Array.from(
  { length: WINDOW },
  (_, at) => (0.5 - 0.5 * Math.cos((2 * Math.PI * at) / (WINDOW - 1))) ** 0.85,
);
const FILTERS: readonly Filter[] = Array.from({ length: MELS }, (_, mel) => toFilter(mel));

function toFilter(mel: number): Filter {
  const lowest = toMel(LOWEST_HZ);
  const width = (toMel(HIGHEST_HZ) - lowest) / (MELS + 1);
  const centre = lowest + (mel + 1) * width;
  const all = Array.from({ length: FFT / 2 }, (_, bin) => {
    const distance = Math.abs(toMel((bin * AUDIO.sampleRateHz) / FFT) - centre);
    return Math.max(0, 1 - distance / width);
  });
  const firstBin = all.findIndex((weight) => weight > 0);
  const lastBin = all.findLastIndex((weight) => weight > 0);
  return { firstBin, weights: Float64Array.from(all.slice(firstBin, lastBin + 1)) };
}

function toMel(hz: number): number {
  return 1127 * Math.log1p(hz / 700);
}
