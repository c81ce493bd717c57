/** The pitch of a human voice, in samples at 4 kHz: 400 Hz down to 70 Hz. */
const LAG_MIN = 10;
const LAG_MAX = 57;
/** Up to 800 Hz: barks, bleats and whistles. */
const HIGH_LAG_MIN = 5;
/** A signal that repeats nearly as well after less than the shortest period of a voice is no voice. */
const HIGH_SHARE = 0.85;
export const VOICING_SAMPLES = 160;
const LAGS_AT_ONCE = 4;
/** Reused, because allocating them takes a quarter of the time. */
const signal = new Float64Array(VOICING_SAMPLES);
const energyBefore = new Float64Array(VOICING_SAMPLES + 1);
const values = new Float64Array(LAG_MAX + 1 + LAGS_AT_ONCE);
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

/** Normalised autocorrelations, by lag, from the given one up to that after the longest of a voice. Valid until the next call. */
function autocorrelations(samples: Float32Array, lagMin: number): Float64Array {
  // In 64 bits, so that no product converts its numbers.
  signal.set(samples);
  for (let at = 0; at < VOICING_SAMPLES; at += 1) {
    const sample = signal[at] ?? 0;
    energyBefore[at + 1] = (energyBefore[at] ?? 0) + sample * sample;
  }
  const all = energyBefore[VOICING_SAMPLES] ?? 0;
  for (let lag = lagMin; lag <= LAG_MAX + 1; lag += LAGS_AT_ONCE) sumProducts(lag);
  for (let lag = lagMin; lag <= LAG_MAX + 1; lag += 1) {
    const early = energyBefore[VOICING_SAMPLES - lag] ?? 0;
    const norm = Math.sqrt(early * (all - (energyBefore[lag] ?? 0)));
    values[lag] = norm > 0 ? (values[lag] ?? 0) / norm : 0;
  }
  return values;
}

/** Sums the products of four lags. One lag at a time takes three times as long, because each addition waits for the one before. */
function sumProducts(lag: number): void {
  // Destructuring would take twice as long.
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  let late1 = 0;
  let late2 = 0;
  let late3 = 0;
  for (let at = lag; at < VOICING_SAMPLES; at += 1) {
    const sample = signal[at] ?? 0;
    const late0 = signal[at - lag] ?? 0;
    sum0 += sample * late0;
    sum1 += sample * late1;
    sum2 += sample * late2;
    sum3 += sample * late3;
    late3 = late2;
    late2 = late1;
    late1 = late0;
  }
  values[lag] = sum0;
  values[lag + 1] = sum1;
  values[lag + 2] = sum2;
  values[lag + 3] = sum3;
}

/** The height of the parabola through three neighbours: short periods fall between the samples. */
function peak(before: number, current: number, after: number): number {
  const bend = before - 2 * current + after;
  return bend < 0 ? current - (before - after) ** 2 / (8 * bend) : current;
}
