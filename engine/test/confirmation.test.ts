import { expect, test } from 'vitest';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { HOP_SAMPLES, VoiceActivity, type FrameVerdict } from '../src/index.ts';

const FRAME = 320;

function samplesOf(name: 'kikuyu-1'): Int16Array {
  const { pcm } = speech(name);
  return new Int16Array(pcm.slice().buffer);
}

/** Runs the detector with a probability for each hop. */
function listen(
  samples: Int16Array,
  probability: ((hop: number) => number) | null,
): FrameVerdict[] {
  const detector = new VoiceActivity();
  if (probability !== null) {
    const hops = Math.floor(samples.length / HOP_SAMPLES);
    const probabilities = Float32Array.from({ length: hops }, (_, hop) => probability(hop));
    detector.confirm({ startSample: 0, probabilities });
  }
  const verdicts: FrameVerdict[] = [];
  for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
    const verdict = detector.push(samples.subarray(at, at + FRAME));
    if (verdict !== null) verdicts.push(verdict);
  }
  return verdicts;
}

test('confirmed speech ends where the second detector stops hearing it, although the sound goes on', () => {
  const samples = samplesOf('kikuyu-1');
  const endHop = 30;
  const last = listen(samples, (hop) => (hop < endHop ? 0.9 : 0)).at(-1);
  expect(last).toMatchObject({ speaking: true, confirmed: true });
  expect(last?.speech?.lastSample).toBeGreaterThan((endHop - 3) * HOP_SAMPLES);
  expect(last?.speech?.lastSample).toBeLessThan((endHop + 4) * HOP_SAMPLES);
  expect(listen(samples, null).at(-1)?.speech?.lastSample).toBeGreaterThan(60 * HOP_SAMPLES);
});

test('speech that the level misses starts with the second detector', () => {
  const quiet = samplesOf('kikuyu-1').map((sample) => sample / 300);
  expect(listen(quiet, null).at(-1)?.speech).toBeNull();
  const heard = listen(quiet, (hop) => (hop >= 10 && hop < 40 ? 0.9 : 0)).at(-1);
  expect(heard).toMatchObject({ confirmed: true });
  expect(heard?.speech?.startSample).toBeGreaterThan(9 * HOP_SAMPLES);
  expect(heard?.speech?.startSample).toBeLessThan(14 * HOP_SAMPLES);
});

function startOf(verdicts: readonly FrameVerdict[]): number | undefined {
  return verdicts.find(({ speaking }) => speaking)?.speech?.startSample;
}

test('speech that the second detector misses is found by the level, as unconfirmed', () => {
  const samples = samplesOf('kikuyu-1');
  const alone = listen(samples, null);
  const unconfirmed = listen(samples, () => 0.1);
  expect(startOf(alone)).toBeTypeOf('number');
  expect(startOf(unconfirmed)).toBe(startOf(alone));
  expect(alone.at(-1)?.confirmed).toBeNull();
  expect(unconfirmed.at(-1)?.confirmed).toBe(false);
});

/** A hum with harmonics that the level takes for a voice, `quietDb` lower from the given second on. */
function hum(quietDb: number, fromS: number): Int16Array {
  return Int16Array.from({ length: 1.3 * 16_000 }, (_, at) => {
    const t = at / 16_000;
    const level = 6_000 * (t < fromS ? 1 : 10 ** (-quietDb / 20));
    const phase = 2 * Math.PI * (150 * t + 4 * Math.sin(2 * Math.PI * 3 * t));
    let sum = 0;
    for (let k = 1; k <= 8; k += 1) sum += Math.sin(k * phase) / k;
    return t < 0.2 ? 0 : Math.round(level * sum);
  });
}

test('an unconfirmed sound ends where only a quieter one goes on', () => {
  const samples = hum(9, 0.6);
  expect(listen(samples, null).at(-1)?.speech?.lastSample).toBeGreaterThan(1.2 * 16_000);
  const last = listen(samples, () => 0.1).at(-1)?.speech?.lastSample;
  expect(last).toBeGreaterThan(0.55 * 16_000);
  expect(last).toBeLessThan(0.9 * 16_000);
});

test('a turn ends where only a voice in the background goes on', () => {
  const samples = hum(34, 0.6).map((sample, at) => sample + ((at * 7_919) % 201) - 100);
  const last = listen(samples, (hop) => (hop < 6 ? 0 : 0.9)).at(-1)?.speech?.lastSample;
  expect(last).toBeGreaterThan(0.55 * 16_000);
  expect(last).toBeLessThan(0.9 * 16_000);
});

test('without verdicts in the middle of speech the level goes on alone', () => {
  const samples = samplesOf('kikuyu-1');
  const detector = new VoiceActivity();
  detector.confirm({ startSample: 0, probabilities: new Float32Array(20).fill(0.9) });
  let last: FrameVerdict | null = null;
  for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
    last = detector.push(samples.subarray(at, at + FRAME)) ?? last;
  }
  expect(last?.confirmed).toBe(true);
  expect(last?.speech?.lastSample).toBe(listen(samples, null).at(-1)?.speech?.lastSample);
});
