import { AUDIO } from '@svc-asr/protocol';
import { gaussian, sine } from '../conditions.ts';

/** Sounds that last: noise, hum, wind and music. The level doesn't matter: conditions scale them. */

export type Random = () => number;
const RATE = AUDIO.sampleRateHz;

export function white(length: number, random: Random): Float32Array {
  return Float32Array.from({ length }, () => gaussian(random));
}

/** White noise through three one-pole filters: 3 dB less per octave. */
export function pink(length: number, random: Random): Float32Array {
  let [a, b, c] = [0, 0, 0];
  return Float32Array.from({ length }, () => {
    const sample = gaussian(random);
    a = 0.997_65 * a + 0.099_046 * sample;
    b = 0.963 * b + 0.296_516_4 * sample;
    c = 0.57 * c + 1.052_691_3 * sample;
    return a + b + c + 0.1848 * sample;
  });
}

export function mainsHum(length: number): Float32Array {
  const partials = [1, 2, 3, 4, 5, 7, 9];
  return Float32Array.from({ length }, (_, at) =>
    partials.reduce((sum, k) => sum + sine(50 * k, at / RATE, k) / k, 0),
  );
}

/** Noise below 180 Hz in gusts of about two seconds. */
export function wind(length: number, random: Random): Float32Array {
  const rumble = lowPassed(lowPassed(white(length, random), 180), 180);
  const gusts = lowPassed(white(length, random), 0.5).map(Math.abs);
  let strongest = 0;
  for (const gust of gusts) strongest = Math.max(strongest, gust);
  return rumble.map((sample, at) => sample * (0.15 * strongest + (gusts[at] ?? 0)));
}

const CHORDS = [
  [220, 277.2, 329.6],
  [196, 246.9, 293.7],
  [174.6, 220, 261.6],
  [164.8, 207.7, 246.9],
];
const MELODY = [440, 493.9, 523.3, 587.3, 659.3];

/** Chords, a melody, a drum and a cymbal at 120 beats a minute. */
export function music(length: number, random: Random): Float32Array {
  const wave = new Float32Array(length);
  const beat = RATE / 2;
  for (let start = 0, count = 0; start < length; start += beat, count += 1) {
    const chord = CHORDS[(count >> 2) % CHORDS.length] ?? [];
    const note = MELODY[Math.floor(random() * MELODY.length)] ?? 440;
    for (let at = 0; at < 2 * beat && start + at < length; at += 1) {
      const t = at / RATE;
      const sound =
        chord.reduce((sum, hz) => sum + note3(hz, t), 0) * Math.exp(-3 * t) +
        1.5 * (sine(note, t) + 0.4 * sine(2 * note, t)) * Math.exp(-5 * t) +
        4 * sine(60, t) * Math.exp(-20 * t) +
        (t < 0.1 ? gaussian(random) * Math.exp(-60 * t) : 0);
      wave[start + at] = (wave[start + at] ?? 0) + sound;
    }
  }
  return wave;
}

function note3(hz: number, t: number): number {
  return sine(hz, t) + 0.5 * sine(2 * hz, t) + 0.25 * sine(3 * hz, t);
}

/** A random part of one of the recordings, repeated if it is too short. */
export function partOf(
  recordings: readonly Float32Array[],
  length: number,
  random: Random,
): Float32Array {
  const recording = recordings[Math.floor(random() * recordings.length)];
  if (recording === undefined) throw new Error('There is no recording of music.');
  const from = Math.floor(random() * recording.length);
  return Float32Array.from({ length }, (_, at) => recording[(from + at) % recording.length] ?? 0);
}

/** Speech in a room: 200 random reflections that decay by 60 dB in `seconds`. */
export function reverberated(
  wave: Float32Array,
  { seconds, directDb, random }: { seconds: number; directDb: number; random: Random },
): Float32Array {
  const reflections = Array.from({ length: 200 }, () => {
    const delay = 40 + Math.floor(random() ** 1.5 * seconds * RATE);
    const gain = (random() < 0.5 ? -1 : 1) * 10 ** ((-3 * delay) / (seconds * RATE));
    return { delay, gain };
  });
  const energy = reflections.reduce((sum, { gain }) => sum + gain * gain, 0);
  const scale = Math.sqrt(10 ** (-directDb / 10) / energy);
  const late = lowPassed(wave, 5_000);
  const out = Float32Array.from(wave);
  for (const { delay, gain } of reflections) {
    const level = gain * scale;
    for (let at = delay; at < out.length; at += 1) {
      out[at] = (out[at] ?? 0) + level * (late[at - delay] ?? 0);
    }
  }
  return out;
}

export function lowPassed(wave: Float32Array, hz: number): Float32Array {
  const keep = Math.exp((-2 * Math.PI * hz) / RATE);
  let out = 0;
  return wave.map((sample) => (out = keep * out + (1 - keep) * sample));
}
