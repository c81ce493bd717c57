import { AUDIO } from '@svc-asr/protocol';

const RATE = AUDIO.sampleRateHz;
const NOISE_DB = 20;
const BABBLE_VOICES = 5;
/** The telephone band and its filter, a windowed sinc of 12 ms. */
const TELEPHONE_LOW_HZ = 300;
const TELEPHONE_HIGH_HZ = 3_400;
const FILTER_HALF = 96;

/** Deterministic: the same seed gives the same noise on every machine. */
export function seededRandom(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) % 2_147_483_647 || 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

export function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
}

export function powerOf(wave: Float32Array): number {
  let sum = 0;
  for (const sample of wave) sum += sample * sample;
  return sum / Math.max(1, wave.length);
}

export function withWhiteNoise(wave: Float32Array, seed: number): Float32Array {
  const random = seededRandom(seed);
  const level = Math.sqrt(powerOf(wave) * 10 ** (-NOISE_DB / 10));
  return wave.map((sample) => sample + level * gaussian(random));
}

/** Adds babble: several utterances at once in the background. */
export function withBabble(
  wave: Float32Array,
  others: readonly Float32Array[],
  seed: number,
): Float32Array {
  const random = seededRandom(seed);
  const babble = new Float32Array(wave.length);
  for (let voice = 0; voice < BABBLE_VOICES; voice += 1) {
    const other = others[Math.floor(random() * others.length)];
    if (other === undefined || other.length === 0) continue;
    const from = Math.floor(random() * other.length);
    for (let i = 0; i < babble.length; i += 1) {
      babble[i] = (babble[i] ?? 0) + (other[(from + i) % other.length] ?? 0);
    }
  }
  const gain = Math.sqrt((powerOf(wave) / (powerOf(babble) || 1)) * 10 ** (-NOISE_DB / 10));
  return wave.map((sample, i) => sample + gain * (babble[i] ?? 0));
}

/** Simulates a telephone: 300 to 3,400 Hz, 8 kHz, G.711 mu-law, and back to 16 kHz. */
export function overTelephone(wave: Float32Array): Float32Array {
  const band = bandPass();
  const low = lowPass(TELEPHONE_HIGH_HZ);
  const line = new Float32Array(wave.length);
  for (let i = 0; i < wave.length; i += 2) line[i] = 2 * g711(filteredAt(wave, band, i, 1));
  return line.map((_, i) => filteredAt(line, low, i, 2));
}

/** Encodes to 8-bit mu-law and decodes again, using the segments of the standard. */
export function g711(sample: number): number {
  const bias = 132;
  const clipped = Math.min(32_635, Math.round(Math.abs(sample) * 32_768)) + bias;
  const exponent = Math.max(0, Math.floor(Math.log2(clipped)) - 7);
  const mantissa = (clipped >> (exponent + 3)) & 15;
  const decoded = (((mantissa << 3) + bias) << exponent) - bias;
  return (sample < 0 ? -decoded : decoded) / 32_768;
}

function lowPass(hz: number): Float32Array {
  const taps = new Float32Array(2 * FILTER_HALF + 1);
  for (let k = -FILTER_HALF; k <= FILTER_HALF; k += 1) {
    const x = (2 * Math.PI * hz * k) / RATE;
    const sinc = k === 0 ? (2 * hz) / RATE : Math.sin(x) / (Math.PI * k);
    taps[k + FILTER_HALF] = sinc * (0.5 + 0.5 * Math.cos((Math.PI * k) / (FILTER_HALF + 1)));
  }
  return taps;
}

function bandPass(): Float32Array {
  const low = lowPass(TELEPHONE_LOW_HZ);
  return lowPass(TELEPHONE_HIGH_HZ).map((tap, k) => tap - (low[k] ?? 0));
}

/** Returns one filtered sample. `step` 2 skips the odd samples, which are zero. */
function filteredAt(wave: Float32Array, taps: Float32Array, at: number, step: 1 | 2): number {
  const start = Math.max(0, at - FILTER_HALF);
  const end = Math.min(wave.length - 1, at + FILTER_HALF);
  let sum = 0;
  for (let i = start + (start % step); i <= end; i += step) {
    sum += (taps[at + FILTER_HALF - i] ?? 0) * (wave[i] ?? 0);
  }
  return sum;
}

export function sine(hz: number, t: number, phase = 0): number {
  return Math.sin(2 * Math.PI * hz * t + phase);
}

/** Sounds without speech. The correct transcript is empty. */
export function soundsWithoutSpeech(seconds: number): ReadonlyMap<string, Float32Array> {
  const make = (
    sample: (t: number, random: () => number) => number,
    seed: number,
  ): Float32Array => {
    const random = seededRandom(seed);
    return Float32Array.from({ length: seconds * RATE }, (_, i) => sample(i / RATE, random));
  };
  return new Map([
    ['silence', make(() => 0, 1)],
    ['faint white noise', make((_, random) => 0.001 * gaussian(random), 2)],
    ['white noise', make((_, random) => 0.02 * gaussian(random), 3)],
    ['loud white noise', make((_, random) => 0.2 * gaussian(random), 4)],
    ['mains hum', make((t) => 0.1 * sine(50, t) + 0.03 * sine(150, t), 5)],
    ['tone of 440 Hz', make((t) => 0.2 * sine(440, t), 6)],
    ['tone of 1 kHz', make((t) => 0.2 * sine(1000, t), 7)],
    ['dialling tones', make((t) => (t % 0.2 < 0.1 ? 0.1 * (sine(770, t) + sine(1336, t)) : 0), 8)],
    ['ringing', make((t) => (t % 3 < 1 ? 0.15 * (sine(400, t) + sine(450, t)) : 0), 9)],
    ['rising tone', make((t) => 0.2 * sine(100 + 150 * t, t), 10)],
    ['clicks', make((_, random) => (random() < 0.0003 ? 0.5 : 0), 11)],
    ['gusts', make((t, random) => 0.1 * Math.abs(sine(0.4, t)) * gaussian(random), 12)],
  ]);
}

/** Returns the power below a frequency and the total power, measured at every eighth sample. */
export function lowPassedPower(wave: Float32Array, hz: number): { below: number; all: number } {
  const taps = lowPass(hz);
  let [below, all] = [0, 0];
  for (let at = 0; at < wave.length; at += 8) {
    below += filteredAt(wave, taps, at, 1) ** 2;
    all += (wave[at] ?? 0) ** 2;
  }
  return { below, all };
}
