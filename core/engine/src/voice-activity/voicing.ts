/** The pitch of a human voice, in samples at 4 kHz: 400 Hz down to 70 Hz. */
const LAG_MIN = 10;
const LAG_MAX = 57;
/** Up to 800 Hz: barks, bleats and whistles. */
const HIGH_LAG_MIN = 5;
/** A signal that repeats nearly as well after less than the shortest period of a voice is no voice. */
const HIGH_SHARE = 0.85;
export const VOICING_SAMPLES = 160;
/** A clear pitch repeats this well. */
const PERIOD_MIN = 0.6;
const PERIOD_SHARE = 0.9;

/**
 * How much 40 ms of audio at 4 kHz sound like a voice, from 0 (noise, or a pitch that is too high) to 1: the highest
 * normalised autocorrelation over the lags of a human pitch.
 */
export function voicing(samples: Float32Array): number {
  const values = autocorrelations(samples, HIGH_LAG_MIN - 1);
  let voice = 0;
  let high = 0;
  for (let lag = HIGH_LAG_MIN; lag <= LAG_MAX; lag += 1) {
    const [before, current, after] = [values[lag - 1] ?? 0, values[lag] ?? 0, values[lag + 1] ?? 0];
    if (lag >= LAG_MIN) voice = Math.max(voice, current);
    else if (current >= before && current >= after) high = peak(before, current, after);
  }
  return high > HIGH_SHARE * voice ? 0 : voice;
}

/**
 * The period of a voice in 40 ms of audio at 4 kHz, in samples. Null if there is none: the shortest lag that repeats nearly as
 * well as the best one, because multiples of a period do too.
 */
export function pitchPeriod(samples: Float32Array): number | null {
  const values = autocorrelations(samples, LAG_MIN);
  let best = 0;
  for (let lag = LAG_MIN; lag <= LAG_MAX; lag += 1) best = Math.max(best, values[lag] ?? 0);
  if (best < PERIOD_MIN) return null;
  for (let lag = LAG_MIN + 1; lag < LAG_MAX; lag += 1) {
    const value = values[lag] ?? 0;
    const isPeak = value >= (values[lag - 1] ?? 0) && value >= (values[lag + 1] ?? 0);
    if (isPeak && value >= PERIOD_SHARE * best) return lag;
  }
  return null;
}

/** Normalised autocorrelations, by lag, from the given one up to that after the longest of a voice. */
function autocorrelations(samples: Float32Array, lagMin: number): Float64Array {
  const energyBefore = new Float64Array(VOICING_SAMPLES + 1);
  for (let at = 0; at < VOICING_SAMPLES; at += 1) {
    energyBefore[at + 1] = (energyBefore[at] ?? 0) + (samples[at] ?? 0) ** 2;
  }
  const all = energyBefore[VOICING_SAMPLES] ?? 0;
  const values = new Float64Array(LAG_MAX + 2);
  for (let lag = lagMin; lag <= LAG_MAX + 1; lag += 1) {
    let product = 0;
    for (let at = lag; at < VOICING_SAMPLES; at += 1) {
      product += (samples[at] ?? 0) * (samples[at - lag] ?? 0);
    }
    const early = energyBefore[VOICING_SAMPLES - lag] ?? 0;
    const norm = Math.sqrt(early * (all - (energyBefore[lag] ?? 0)));
    values[lag] = norm > 0 ? product / norm : 0;
  }
  return values;
}

/** The height of the parabola through three neighbours: short periods fall between the samples. */
function peak(before: number, current: number, after: number): number {
  const bend = before - 2 * current + after;
  return bend < 0 ? current - (before - after) ** 2 / (8 * bend) : current;
}
