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
  let voice = 0;
  let high = 0;
  let before = autocorrelation(samples, HIGH_LAG_MIN - 1);
  let current = autocorrelation(samples, HIGH_LAG_MIN);
  for (let lag = HIGH_LAG_MIN; lag <= LAG_MAX; lag += 1) {
    const after = autocorrelation(samples, lag + 1);
    if (lag >= LAG_MIN) voice = Math.max(voice, current);
    else if (current >= before && current >= after) high = peak(before, current, after);
    before = current;
    current = after;
  }
  return high > HIGH_SHARE * voice ? 0 : voice;
}

/**
 * The period of a voice in 40 ms of audio at 4 kHz, in samples. Null if there is none: the shortest lag that repeats nearly as
 * well as the best one, because multiples of a period do too.
 */
export function pitchPeriod(samples: Float32Array): number | null {
  const lags = Array.from({ length: LAG_MAX - LAG_MIN + 1 }, (_, at) =>
    autocorrelation(samples, LAG_MIN + at),
  );
  const best = Math.max(...lags);
  if (best < PERIOD_MIN) return null;
  const at = lags.findIndex((value, index) => {
    const [before, after] = [lags[index - 1], lags[index + 1]];
    if (before === undefined || after === undefined) return false;
    return value >= PERIOD_SHARE * best && value >= before && value >= after;
  });
  return at < 0 ? null : LAG_MIN + at;
}

function autocorrelation(samples: Float32Array, lag: number): number {
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
  return norm > 0 ? product / norm : 0;
}

/** The height of the parabola through three neighbours: short periods fall between the samples. */
function peak(before: number, current: number, after: number): number {
  const bend = before - 2 * current + after;
  return bend < 0 ? current - (before - after) ** 2 / (8 * bend) : current;
}
