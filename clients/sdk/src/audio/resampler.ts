import { AUDIO } from '@svc-asr/protocol/constants.ts';

/** Zero crossings on each side. Gives a stop band below -70 dB, so that aliases don't disturb speech. */
const CROSSINGS = 16;
const KAISER_BETA = 7;
/** The pass band as a share of the lower Nyquist frequency. The rest is the filter's transition band. */
const ROLL_OFF = 0.94;

/** Resamples any rate to 16 kHz in chunks, without discontinuities between them. 16 kHz samples pass unchanged. */
export class Resampler {
  /** The filter would change samples that already have the right rate. */
  readonly #isSameRate: boolean;
  readonly #up: number;
  readonly #down: number;
  readonly #reach: number;
  readonly #cutoff: number;
  /** Computed on first use: an odd rate has 16,000 of them, which take many seconds together. */
  readonly #phases = new Map<number, Float32Array>();
  #held: Float32Array;
  /** Position of the next output sample, in 1/up input samples from the start of `held`. */
  #position: number;
  #received = 0;
  #produced = 0;

  constructor(fromHz: number, toHz: number = AUDIO.sampleRateHz) {
    if (!Number.isInteger(fromHz) || fromHz < 1_000 || fromHz > 384_000) {
      throw new RangeError('sampleRateHz must be a whole number from 1,000 to 384,000.');
    }
    this.#isSameRate = fromHz === toHz;
    const common = greatestCommonDivisor(fromHz, toHz);
    this.#up = toHz / common;
    this.#down = fromHz / common;
    this.#cutoff = ROLL_OFF * Math.min(1, toHz / fromHz);
    this.#reach = Math.ceil(CROSSINGS / this.#cutoff);
    this.#held = new Float32Array(this.#reach);
    this.#position = this.#reach * this.#up;
  }

  push(samples: Float32Array): Float32Array {
    if (this.#isSameRate) return samples.slice();
    this.#received += samples.length;
    return this.#filter(samples);
  }

  /** Returns the samples that the filter still holds. The resampler can't be used afterwards. */
  end(): Float32Array {
    if (this.#isSameRate) return new Float32Array(0);
    const rest = this.#filter(new Float32Array(this.#reach + 1));
    const total = Math.round((this.#received * this.#up) / this.#down);
    return rest.subarray(0, Math.max(0, rest.length - (this.#produced - total)));
  }

  #filter(samples: Float32Array): Float32Array {
    const input = new Float32Array(this.#held.length + samples.length);
    input.set(this.#held);
    input.set(samples, this.#held.length);
    const last = (input.length - this.#reach) * this.#up - 1;
    const count = Math.max(0, Math.floor((last - this.#position) / this.#down) + 1);
    const output = new Float32Array(count);
    for (let at = 0; at < count; at += 1) {
      output[at] = this.#convolve(input, this.#position);
      this.#position += this.#down;
    }
    const used = Math.max(0, Math.floor(this.#position / this.#up) - this.#reach);
    this.#held = input.slice(used);
    this.#position -= used * this.#up;
    this.#produced += count;
    return output;
  }

  #convolve(input: Float32Array, position: number): number {
    const centre = Math.floor(position / this.#up);
    const taps = this.#tapsOf(position % this.#up);
    const from = centre - this.#reach + 1;
    let sum = 0;
    for (let tap = 0; tap < taps.length; tap += 1) {
      sum += (input[from + tap] ?? 0) * (taps[tap] ?? 0);
    }
    return sum;
  }

  #tapsOf(phase: number): Float32Array {
    const known = this.#phases.get(phase);
    if (known !== undefined) return known;
    const taps = filterPhase(phase / this.#up, this.#reach, this.#cutoff);
    this.#phases.set(phase, taps);
    return taps;
  }
}

/** Computes the filter taps for an output that lies `offset` input samples after its centre. */
function filterPhase(offset: number, reach: number, cutoff: number): Float32Array {
  const taps = Float32Array.from({ length: 2 * reach }, (_, tap) => {
    const distance = tap - reach + 1 - offset;
    return cutoff * sinc(distance * cutoff) * kaiser(distance / reach);
  });
  const sum = taps.reduce((total, tap) => total + tap, 0);
  return taps.map((tap) => tap / sum);
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number): number {
  return Math.abs(x) >= 1 ? 0 : bessel(KAISER_BETA * Math.sqrt(1 - x * x)) / bessel(KAISER_BETA);
}

/** The modified Bessel function of order zero, computed from its series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-9; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
