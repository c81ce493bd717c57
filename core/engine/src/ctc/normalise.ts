const VARIANCE_FLOOR = 1e-5;

/** Sums over samples. */
export interface Statistics {
  readonly count: number;
  readonly sum: number;
  readonly squares: number;
}

/** Adds the samples to those that were counted before. A plain loop: an iterator would take a tenth of the encoder's time. */
export function statisticsOf(samples: Float32Array, before?: Statistics): Statistics {
  let { sum, squares } = before ?? { sum: 0, squares: 0 };
  for (let at = 0; at < samples.length; at += 1) {
    const sample = samples[at] ?? 0;
    sum += sample;
    squares += sample * sample;
  }
  return { count: (before?.count ?? 0) + samples.length, sum, squares };
}

/** Gives samples zero mean and unit variance, as in training, and pads them with silence to a length. */
export function normalised(
  samples: Float32Array,
  { count, sum, squares }: Statistics,
  lengthMin: number,
): Float32Array<ArrayBuffer> {
  const mean = sum / Math.max(1, count);
  const variance = Math.max(0, squares / Math.max(1, count) - mean * mean);
  const scale = 1 / Math.sqrt(variance + VARIANCE_FLOOR);
  const window = new Float32Array(Math.max(samples.length, lengthMin));
  for (let at = 0; at < samples.length; at += 1) window[at] = ((samples[at] ?? 0) - mean) * scale;
  return window;
}
