import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import { describe, expect, test } from 'vitest';
import { FormatWatch } from './format-watch.ts';

const FRAME_BYTES = 3_200;

/** Feeds all samples in frames of 100 ms and returns the detected format. */
function judge(samples: Int16Array): string | null {
  const watch = new FormatWatch();
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  for (let at = 0; at < bytes.byteLength; at += FRAME_BYTES) {
    const wrong = watch.examine(bytes.subarray(at, at + FRAME_BYTES));
    if (wrong !== null) return wrong;
  }
  return null;
}

const RECORDINGS = SPEECH.map(({ name, pcm }) => ({
  name,
  samples: new Int16Array(Uint8Array.from(pcm).buffer),
}));

/** Linear interpolation, as simple clients do it. */
function resample(samples: Int16Array, ratio: number): Int16Array {
  return Int16Array.from({ length: Math.floor((samples.length - 1) * ratio) }, (_, at) => {
    const from = Math.floor(at / ratio);
    const part = at / ratio - from;
    return (samples[from] ?? 0) * (1 - part) + (samples[from + 1] ?? 0) * part;
  });
}

function interleave(left: Int16Array, right: Int16Array): Int16Array {
  return Int16Array.from({ length: 2 * left.length }, (_, at) =>
    at % 2 === 0 ? (left[at >> 1] ?? 0) : (right[at >> 1] ?? 0),
  );
}

function toFloats(samples: Int16Array): Int16Array {
  return new Int16Array(Float32Array.from(samples, (sample) => sample / 32_768).buffer);
}

/** A synthetic voice: decaying harmonics with a varying pitch. */
function voice(input: { hz: number; seconds?: number; rate?: number }): Int16Array {
  const { hz, seconds = 4, rate = 16_000 } = input;
  let phase = 0;
  return Int16Array.from({ length: seconds * rate }, (_, at) => {
    phase += (2 * Math.PI * hz * (1 + 0.1 * Math.sin((at * 6) / rate))) / rate;
    let sum = 0;
    for (let harmonic = 1; harmonic * hz < Math.min(5_000, rate / 2); harmonic += 1) {
      sum += Math.sin(harmonic * phase) / (1 + ((harmonic * hz) / 900) ** 2);
    }
    return 1_500 * sum;
  });
}

/** A deterministic random generator. */
function noise(length: number, amplitude = 6_000): Int16Array {
  let seed = 1;
  return Int16Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return ((seed / 2_147_483_647) * 2 - 1) * amplitude;
  });
}

function mix(one: Int16Array, other: Int16Array): Int16Array {
  return one.map((sample, at) => sample / 2 + (other[at] ?? 0));
}

describe.each(RECORDINGS)('$name', ({ samples }) => {
  test.each([
    ['as recorded', samples],
    ['from a telephone, at 8 kHz and back', resample(resample(samples, 0.5), 2)],
    ['very quiet', samples.map((sample) => sample / 20)],
    ['under noise', mix(samples, noise(samples.length, 1_000))],
  ])('%s raises no alarm', (_, given) => {
    expect(judge(given)).toBeNull();
  });

  test.each([
    ['48 kHz', 'rate', resample(samples, 3)],
    ['44.1 kHz', 'rate', resample(samples, 2.756_25)],
    ['stereo with the same sound on both sides', 'stereo', interleave(samples, samples)],
    ['stereo with one silent side', 'stereo', interleave(samples, new Int16Array(samples.length))],
    ['32-bit floats', 'float32', toFloats(samples)],
  ])('as %s is recognised as %s', (_, wrong, given) => {
    expect(judge(given)).toBe(wrong);
  });
});

test.each([90, 110, 150, 220, 300])('a synthetic voice of %i Hz raises no alarm', (hz) => {
  expect(judge(voice({ hz }))).toBeNull();
});

test.each([110, 150, 220])('a synthetic voice of %i Hz at 48 kHz is recognised', (hz) => {
  expect(judge(voice({ hz, rate: 48_000 }))).toBe('rate');
});

test.each([
  ['white noise', noise(64_000)],
  ['loud white noise', noise(64_000, 30_000)],
  ['silence', new Int16Array(64_000)],
  ['a hum of 50 Hz', Int16Array.from({ length: 64_000 }, (_, at) => 300 * Math.sin(at / 51))],
])('%s raises no alarm', (_, samples) => {
  expect(judge(samples)).toBeNull();
});

test('the watch ends after two seconds of sound or thirty of silence', () => {
  for (const samples of [noise(32_000), new Int16Array(480_000)]) {
    const watch = new FormatWatch();
    watch.examine(new Uint8Array(samples.buffer));
    expect(watch.isOver).toBe(true);
  }
});
