import { AUDIO } from '@svc-asr/protocol';

/** Detects from a second or two of sound that the samples are not 16 kHz mono 16-bit PCM. */

/** Alternating differences this uneven mean two channels with the same sound. */
const SAME_CHANNELS_RATIO = 0.05;
/** Samples that resemble the next but one this much more than the next belong to two channels. */
const OTHER_CHANNELS_RATIO = 0.2;
/** One channel holds this many times the energy of the other. */
const SILENT_CHANNEL_RATIO = 1_000;
/** Nearly all upper halves of 32-bit floats in ±1 look like this. */
const FLOAT_SHARE = 0.9;
const FLOAT_HIGH_WORDS = { min: 0x2f00, max: 0x3f80 } as const;

export const FORMAT_HINTS = {
  float32:
    'This looks like 32-bit float samples. Convert them to signed 16-bit integers (multiply by 32,767).',
  stereo:
    'This looks like two channels, or like samples that come twice. Send one channel, resampled to 16 kHz.',
  big_endian:
    'This looks like 16-bit samples with the high byte first. Swap the two bytes of each sample.',
  pcm24: 'This looks like 24-bit samples. Convert them to signed 16-bit integers, low byte first.',
  mulaw:
    'This looks like G.711 mu-law. Decode it to 16-bit PCM and resample it from 8 kHz to 16 kHz.',
  alaw: 'This looks like G.711 A-law. Decode it to 16-bit PCM and resample it from 8 kHz to 16 kHz.',
  rate: 'This sounds two to three times too slow, like 44.1 or 48 kHz audio. Resample it to 16 kHz.',
} as const;

export type WrongFormat = keyof typeof FORMAT_HINTS;

/** Needs a second of sound that is not silence. */
export function findWrongLayout(samples: Int16Array): WrongFormat | null {
  if (looksLikeFloats(samples)) return 'float32';
  return looksInterleaved(samples) ? 'stereo' : null;
}

/** The lower half of a float is noise and the upper half holds sign and exponent, which hardly vary. */
function looksLikeFloats(samples: Int16Array): boolean {
  const like = [0, 0];
  const nonZero = [0, 0];
  for (let phase = 0; phase < 2; phase += 1) {
    let likely = 0;
    let counted = 0;
    for (let at = phase; at < samples.length; at += 2) {
      const word = (samples[at] ?? 0) & 0x7fff;
      if (word >= FLOAT_HIGH_WORDS.min && word <= FLOAT_HIGH_WORDS.max) likely += 1;
      if (word !== 0) counted += 1;
    }
    like[phase] = likely;
    nonZero[phase] = counted;
  }
  const share = (phase: number): number => (like[phase] ?? 0) / Math.max(1, nonZero[phase] ?? 0);
  return (
    Math.max(share(0), share(1)) > FLOAT_SHARE && Math.min(share(0), share(1)) < FLOAT_SHARE / 2
  );
}

function looksInterleaved(samples: Int16Array): boolean {
  let left = 0;
  let right = 0;
  let even = 0;
  let odd = 0;
  let toNextButOne = 0;
  for (let at = 0; at + 3 < samples.length; at += 2) {
    const one = samples[at] ?? 0;
    const two = samples[at + 1] ?? 0;
    const three = samples[at + 2] ?? 0;
    left += one * one;
    right += two * two;
    even += (one - two) ** 2;
    odd += (two - three) ** 2;
    toNextButOne += (one - three) ** 2 + (two - (samples[at + 3] ?? 0)) ** 2;
  }
  if (Math.max(left, right) > SILENT_CHANNEL_RATIO * Math.min(left, right)) return true;
  if (Math.min(even, odd) < SAME_CHANNELS_RATIO * Math.max(even, odd)) return true;
  return toNextButOne < OTHER_CHANNELS_RATIO * (even + odd);
}

/** Pitch is detected at 4 kHz, which keeps every voice and is cheap. */
const DECIMATION = 4;
const FRAME_SAMPLES = 800;
const LAG_MIN = 12;
const LAG_MAX = 180;
/** A frame that resembles itself this much after one period is voiced. */
const VOICED_LIKENESS = 0.5;
/** Multiples of the period look alike too. The first peak close to the best one is the period. */
const FIRST_PEAK_SHARE = 0.9;
const VOICED_FRAMES_MIN = 8;
/**
 * Voices below 89 Hz with most energy below 600 Hz. Of our recordings, those at 16 kHz have pitches above 95 Hz and mean
 * frequencies above 890 Hz, also as telephone speech. Played at 44.1 or 48 kHz they are below 85 Hz and 530 Hz.
 */
const SLOW_PITCH_LAG_MIN = 45;
const SLOW_MEAN_HZ_MAX = 600;
/** Below this it is mains hum. */
const SLOW_MEAN_HZ_MIN = 150;

/** Needs two seconds of sound that is not silence. */
export function findWrongRate(samples: Int16Array): WrongFormat | null {
  const hz = meanHz(samples);
  if (hz < SLOW_MEAN_HZ_MIN || hz > SLOW_MEAN_HZ_MAX) return null;
  const lags = pitchLags(samples).toSorted((a, b) => a - b);
  if (lags.length < VOICED_FRAMES_MIN) return null;
  return (lags[lags.length >> 1] ?? 0) >= SLOW_PITCH_LAG_MIN ? 'rate' : null;
}

/** The pitch period of every voiced frame, in samples at 4 kHz. */
function pitchLags(samples: Int16Array): number[] {
  const slow = decimate(samples);
  const lags: number[] = [];
  for (let at = 0; at + FRAME_SAMPLES + LAG_MAX <= slow.length; at += FRAME_SAMPLES / 2) {
    const lag = pitchLag(slow.subarray(at, at + FRAME_SAMPLES + LAG_MAX));
    if (lag !== null) lags.push(lag);
  }
  return lags;
}

function pitchLag(frame: Float32Array): number | null {
  const similarities: number[] = [];
  for (let lag = LAG_MIN; lag <= LAG_MAX; lag += 1) similarities.push(similarity(frame, lag));
  const best = Math.max(...similarities);
  if (best < VOICED_LIKENESS) return null;
  const at = similarities.findIndex(
    (value, index) =>
      index > 0 &&
      value >= FIRST_PEAK_SHARE * best &&
      value >= (similarities[index - 1] ?? 0) &&
      value >= (similarities[index + 1] ?? 0),
  );
  return at < 0 ? null : at + LAG_MIN;
}

/** Normalised correlation of a frame with itself `lag` samples later. */
function similarity(frame: Float32Array, lag: number): number {
  let product = 0;
  let here = 1e-9;
  let later = 1e-9;
  for (let at = 0; at < FRAME_SAMPLES; at += 1) {
    const x = frame[at] ?? 0;
    const y = frame[at + lag] ?? 0;
    product += x * y;
    here += x * x;
    later += y * y;
  }
  return product / Math.sqrt(here * later);
}

function decimate(samples: Int16Array): Float32Array {
  const slow = new Float32Array(Math.floor(samples.length / DECIMATION));
  for (let at = 0; at < slow.length; at += 1) {
    let sum = 0;
    for (let part = 0; part < DECIMATION; part += 1) sum += samples[at * DECIMATION + part] ?? 0;
    slow[at] = sum;
  }
  return slow;
}

/** The frequency of a sine whose samples would differ from their neighbours as much. */
function meanHz(samples: Int16Array): number {
  let differences = 0;
  let energy = 1;
  for (let at = 1; at < samples.length; at += 1) {
    const here = samples[at] ?? 0;
    const difference = here - (samples[at - 1] ?? 0);
    differences += difference * difference;
    energy += here * here;
  }
  const cosine = Math.max(-1, 1 - differences / energy / 2);
  return (Math.acos(cosine) * AUDIO.sampleRateHz) / (2 * Math.PI);
}
