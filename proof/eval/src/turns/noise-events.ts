import { AUDIO } from '@svc-asr/protocol';
import { gaussian, powerOf, sine } from '../conditions.ts';
import { lowPassed, type Random } from './noises.ts';

/** Sounds that come and go: clicks, keys, breath, barks and telephone tones. */

const RATE = AUDIO.sampleRateHz;
type MakeEvent = (random: Random) => Float32Array;

/** Places events one after the other with pauses of `minS` to `maxS`. */
export function events(
  length: number,
  random: Random,
  { make, minS, maxS }: { make: MakeEvent; minS: number; maxS: number },
): Float32Array {
  const wave = new Float32Array(length);
  let at = Math.floor(random() * RATE);
  while (at < length) {
    const event = make(random);
    wave.set(event.subarray(0, length - at), at);
    at += event.length + Math.floor(between(minS, maxS, random) * RATE);
  }
  return wave;
}

export function click(random: Random): Float32Array {
  const length = Math.floor(between(0.002, 0.01, random) * RATE);
  return shape(length / RATE, (t) => 0.3 * gaussian(random) * Math.exp((-4 * t * RATE) / length));
}

/** A few words on a keyboard: 3 to 14 keys. */
export function typing(random: Random): Float32Array {
  const keys = 3 + Math.floor(random() * 12);
  return joined(
    Array.from({ length: keys }).flatMap(() => {
      const hz = between(150, 400, random);
      const key = shape(
        0.05,
        (t) =>
          0.12 * gaussian(random) * Math.exp(-120 * t) + 0.05 * sine(hz, t) * Math.exp(-80 * t),
      );
      return [key, silence(between(0.06, 0.2, random))];
    }),
  );
}

export function breath(random: Random): Float32Array {
  const seconds = between(0.4, 1.2, random);
  const noise = shape(seconds, () => gaussian(random));
  const low = lowPassed(noise, 300);
  const air = lowPassed(noise, 3_500).map((sample, at) => sample - (low[at] ?? 0));
  const level = 10 ** (-38 / 20) / Math.sqrt(powerOf(air));
  return air.map((sample, at) => sample * level * hill(at / air.length));
}

/** One to four barks: harmonics of 350 to 650 Hz that rise and fall, and noise. */
export function barks(random: Random): Float32Array {
  const count = 1 + Math.floor(random() * 4);
  return joined(
    Array.from({ length: count }).flatMap(() => {
      const seconds = between(0.12, 0.3, random);
      const hz = between(350, 650, random);
      let phase = 0;
      const bark = shape(seconds, (t) => {
        phase += (2 * Math.PI * hz * (1 + 0.3 * Math.sin((Math.PI * t) / seconds))) / RATE;
        let voice = 0.5 * gaussian(random);
        for (let k = 1; k <= 7; k += 1) voice += Math.sin(k * phase) / k ** 0.7;
        return voice;
      });
      const level = 0.12 / Math.sqrt(powerOf(bark));
      const shaped = bark.map((sample, at) => sample * level * hill(at / bark.length));
      return [shaped, silence(between(0.1, 0.35, random))];
    }),
  );
}

const DIAL_ROWS = [697, 770, 852, 941];
const DIAL_COLUMNS = [1_209, 1_336, 1_477];

/** Dialled digits, two kinds of ringing, or a busy tone. */
export function telephoneTones(random: Random): Float32Array {
  const kind = random();
  if (kind < 0.4) {
    return joined(
      Array.from({ length: 1 + Math.floor(random() * 7) }).flatMap(() => {
        const row = DIAL_ROWS[Math.floor(random() * DIAL_ROWS.length)] ?? 697;
        const column = DIAL_COLUMNS[Math.floor(random() * DIAL_COLUMNS.length)] ?? 1_209;
        return [tones([row, column], 0.12, 0.1), silence(0.1)];
      }),
    );
  }
  const ring = tones([400, 450], 0.4, 0.08);
  if (kind < 0.7) return joined([ring, silence(0.2), ring]);
  if (kind < 0.9) return tones([440, 480], 2, 0.06);
  const busy = tones([425], 0.5, 0.1);
  return joined([busy, silence(0.5), busy, silence(0.5)]);
}

function tones(frequencies: readonly number[], seconds: number, level: number): Float32Array {
  return shape(seconds, (t) => frequencies.reduce((sum, hz) => sum + level * sine(hz, t), 0));
}

/** One of the recorded sounds at -26 dB, at most four seconds of it. */
export function oneOf(recordings: readonly Float32Array[]): MakeEvent {
  return (random) => {
    const recording = recordings[Math.floor(random() * recordings.length)];
    if (recording === undefined) throw new Error('There are no recorded sounds.');
    const part = recording.subarray(0, 4 * RATE);
    const level = 10 ** (-26 / 20) / Math.sqrt(powerOf(part) + 1e-9);
    return part.map((sample) => sample * level);
  };
}

function shape(seconds: number, sample: (t: number) => number): Float32Array {
  return Float32Array.from({ length: Math.floor(seconds * RATE) }, (_, at) => sample(at / RATE));
}

function silence(seconds: number): Float32Array {
  return new Float32Array(Math.floor(seconds * RATE));
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const wave = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    wave.set(part, at);
    at += part.length;
  }
  return wave;
}

/** Rises from 0 to 1 and falls again over the unit interval. */
function hill(x: number): number {
  return 0.5 - 0.5 * Math.cos(2 * Math.PI * x);
}

function between(low: number, high: number, random: Random): number {
  return low + random() * (high - low);
}
