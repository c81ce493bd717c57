/**
 * How well four numbers predict each sample of a signal from the four before it: the gain in dB of a linear predictor. One or
 * two steady tones (dialling, ringing, busy) are predicted almost exactly. The pulses of a voice are not.
 */
const ORDER = 4;
/** Keeps the equations solvable for pure tones, 50 dB below the signal. */
const REGULARISATION = 1e-5;

export function predictionGain(samples: Float32Array): number {
  const size = ORDER + 1;
  // Covariances of the samples with their past: row and column are delays.
  const covariance = new Float64Array(size * size);
  for (let delay = 0; delay < size; delay += 1) {
    let sum = 0;
    for (let at = ORDER; at < samples.length; at += 1) {
      sum += (samples[at] ?? 0) * (samples[at - delay] ?? 0);
    }
    // The next row has the same products, but for one at each end.
    for (let row = 0; row + delay < size; row += 1) {
      const column = row + delay;
      covariance[row * size + column] = sum;
      covariance[column * size + row] = sum;
      const first = ORDER - 1 - row;
      const last = samples.length - 1 - row;
      sum += (samples[first] ?? 0) * (samples[first - delay] ?? 0);
      sum -= (samples[last] ?? 0) * (samples[last - delay] ?? 0);
    }
  }
  const energy = covariance[0] ?? 0;
  if (energy <= 0) return 0;
  for (let at = 1; at < size; at += 1) {
    covariance[at * size + at] = (covariance[at * size + at] ?? 0) + REGULARISATION * energy;
  }
  return 10 * Math.log10(energy / Math.max(residual(covariance, size), 1e-9 * energy));
}

/** Eliminates the delays one after the other. What is left of the signal's energy can't be predicted. */
function residual(covariance: Float64Array, size: number): number {
  for (let pivot = size - 1; pivot > 0; pivot -= 1) {
    const divisor = covariance[pivot * size + pivot] ?? 1;
    if (divisor <= 0) return covariance[0] ?? 0;
    for (let row = 0; row < pivot; row += 1) {
      const factor = (covariance[row * size + pivot] ?? 0) / divisor;
      for (let column = 0; column < pivot; column += 1) {
        const at = row * size + column;
        covariance[at] = (covariance[at] ?? 0) - factor * (covariance[pivot * size + column] ?? 0);
      }
    }
  }
  return covariance[0] ?? 0;
}
