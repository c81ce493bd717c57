import { expect, test } from 'vitest';
import {
  g711,
  overTelephone,
  soundsWithoutSpeech,
  withBabble,
  withWhiteNoise,
} from '../src/conditions.ts';

function tone(hz: number): Float32Array {
  return Float32Array.from(
    { length: 16_000 },
    (_, i) => 0.3 * Math.sin((2 * Math.PI * hz * i) / 16_000),
  );
}

/** Returns the power in the middle, away from the filter's edges. */
function power(wave: Float32Array): number {
  const middle = wave.subarray(1_000, -1_000);
  return middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length;
}

test.each([500, 1_000, 2_000, 3_000])('the telephone filter passes %i Hz', (hz) => {
  expect(power(overTelephone(tone(hz))) / power(tone(hz))).toBeGreaterThan(0.8);
});

test.each([50, 4_500, 7_000])('the telephone filter drops %i Hz', (hz) => {
  expect(power(overTelephone(tone(hz))) / power(tone(hz))).toBeLessThan(0.03);
});

test('G.711 is symmetric and within its quantisation error', () => {
  for (let x = -1; x <= 1; x += 0.001) {
    expect(Math.abs(g711(x) - x)).toBeLessThan(0.004 + 0.04 * Math.abs(x));
    expect(g711(-x)).toBeCloseTo(-g711(x), 6);
  }
});

test('adds white noise and babble at 20 dB, deterministically', () => {
  const wave = tone(440);
  const others = [tone(200), tone(900)];
  for (const disturbed of [withWhiteNoise(wave, 7), withBabble(wave, others, 7)]) {
    const noise = disturbed.map((sample, i) => sample - (wave[i] ?? 0));
    expect(10 * Math.log10(power(wave) / power(noise))).toBeCloseTo(20, 0);
  }
  expect(withWhiteNoise(wave, 7)).toEqual(withWhiteNoise(wave, 7));
  expect(withWhiteNoise(wave, 7)).not.toEqual(withWhiteNoise(wave, 8));
});

test('generates distinct sounds without speech within range', () => {
  const sounds = [...soundsWithoutSpeech(1).values()];
  expect(new Set(sounds.map((wave) => power(wave))).size).toBe(sounds.length);
  for (const wave of sounds) expect(wave.every((sample) => Math.abs(sample) <= 1.2)).toBe(true);
});
