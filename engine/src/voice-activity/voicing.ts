/** The pitch of a human voice, in samples at 4 kHz: 400 Hz down to 70 Hz. */
const LAG_MIN = 10;
const LAG_MAX = 57;
export const VOICING_SAMPLES = 160;

/**
 * How periodic 40 ms of audio at 4 kHz are, from 0 (noise) to 1 (a tone): the highest normalised autocorrelation over
 * the lags of a human pitch.
 */
export function voicing(samples: Float32Array): number {
  let highest = 0;
  for (let lag = LAG_MIN; lag <= LAG_MAX; lag += 1) {
    let product = 0;
    let early = 0;
    let late = 0;
    for (let at = lag; at < VOICING_SAMPLES; at += 1) {
      const a = samples[at] ?? 0;
      const b = samples[at - lag] ?? 0;
      product += a * b;
      early += b * b;
      late += a * a;
    }
    const norm = Math.sqrt(early * late);
    if (norm > 0 && product / norm > highest) highest = product / norm;
  }
  return highest;
}
