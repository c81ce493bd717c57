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

/** A hum with harmonics that the level takes for a voice. Its pitch rises and falls. */
function hum(
  seconds: number,
  at: (second: number) => { readonly quietDb: number; readonly hz: number; readonly sway: number },
): Int16Array {
  return Int16Array.from({ length: seconds * 16_000 }, (_, sample) => {
    const t = sample / 16_000;
    const { quietDb, hz, sway } = at(t);
    const phase = 2 * Math.PI * (hz * t + sway * Math.sin(2 * Math.PI * 3 * t));
    let sum = 0;
    for (let k = 1; k <= 8; k += 1) sum += Math.sin(k * phase) / k;
    return t < 0.2 ? 0 : Math.round(6_000 * 10 ** (-quietDb / 20) * sum);
  });
}

/** It gets quieter after 0.6 s. */
function fallingHum(quietDb: number): Int16Array {
  return hum(1.3, (t) => ({ quietDb: t < 0.6 ? 0 : quietDb, hz: 150, sway: 4 }));
}

test('an unconfirmed sound ends where only a quieter one goes on', () => {
  const samples = fallingHum(9);
  expect(listen(samples, null).at(-1)?.speech?.lastSample).toBeGreaterThan(1.2 * 16_000);
  const last = listen(samples, () => 0.1).at(-1)?.speech?.lastSample;
  expect(last).toBeGreaterThan(0.55 * 16_000);
  expect(last).toBeLessThan(0.9 * 16_000);
});

test('a turn ends where only a voice in the background goes on', () => {
  const samples = fallingHum(34).map((sample, at) => sample + ((at * 7_919) % 201) - 100);
  const last = listen(samples, (hop) => (hop < 6 ? 0 : 0.9)).at(-1)?.speech?.lastSample;
  expect(last).toBeGreaterThan(0.55 * 16_000);
  expect(last).toBeLessThan(0.9 * 16_000);
});

test.each([
  ['goes on with a quieter voice of the same pitch', 150, 2.3, 2.6],
  ['ends where a quieter voice has another pitch', 300, 1.0, 1.8],
] as const)('a turn %s', (_, laterHz, fromS, toS) => {
  const samples = hum(2.4, (t) =>
    t < 1.2 ? { quietDb: 0, hz: 150, sway: 0.5 } : { quietDb: 14, hz: laterHz, sway: 0.5 },
  );
  const last = listen(samples, () => 0.9).at(-1)?.speech?.lastSample;
  expect(last).toBeGreaterThan(fromS * 16_000);
  expect(last).toBeLessThan(toS * 16_000);
});

test.each([
  [false, 'one hop just above a half, as music has', [0.55]],
  [true, 'two such hops', [0.55, 0.55]],
  [true, 'one clear hop', [0.9]],
] as const)('speech is confirmed (%s) by %s', (confirmed, _, probabilities) => {
  const heard = listen(samplesOf('kikuyu-1'), (hop) => probabilities[hop - 20] ?? 0.1);
  expect(heard.at(-1)).toMatchObject({ speaking: true, confirmed });
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

/** Where turns begin and end after 500 ms of silence, in seconds. */
function turnsIn(
  samples: Int16Array,
  probability: (hop: number) => number,
): { from: number; to: number }[] {
  const detector = new VoiceActivity();
  const hops = Math.floor(samples.length / HOP_SAMPLES);
  const probabilities = Float32Array.from({ length: hops }, (_, hop) => probability(hop));
  detector.confirm({ startSample: 0, probabilities });
  const turns: { from: number; to: number }[] = [];
  for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
    const verdict = detector.push(samples.subarray(at, at + FRAME));
    if (verdict?.speaking !== true || verdict.speech === null) continue;
    const { startSample, lastSample } = verdict.speech;
    if (at + FRAME - lastSample < 8_000 || verdict.isOnset === true) continue;
    turns.push({ from: startSample / 16_000, to: lastSample / 16_000 });
    detector.endSpeech();
  }
  return turns;
}

test('turns end although somebody talks in the background, once two pauses have shown it', () => {
  const samples = hum(12.5, (t) => ({ quietDb: t % 2.5 < 1.5 ? 0 : 14, hz: 150, sway: 0.5 }));
  const turns = turnsIn(samples, () => 0.9);
  expect(turns.slice(1)).toEqual(
    [5, 7.5, 10].map((from) => ({
      from: expect.closeTo(from, 0),
      to: expect.closeTo(from + 1.5, 0),
    })),
  );
});

test('a quieter second speaker who begins after a pause gets turns', () => {
  const samples = hum(16, (t) => {
    const quietDb = t % 2 > 1.4 ? 90 : t % 4 < 2 ? 0 : 10;
    return { quietDb, hz: 150, sway: 0.5 };
  });
  const turns = turnsIn(samples, (hop) => (((hop * HOP_SAMPLES) / 16_000) % 2 > 1.4 ? 0 : 0.9));
  expect(turns).toHaveLength(8);
});

test.each([
  ['a loud syllable starts no turn', 0.06, 2],
  ['the main speaker starts a turn', 0.5, 3],
] as const)('beside a known voice %s', (_, loudS, turns) => {
  const samples = hum(12, (t) => {
    const isLoud = t < 7.5 ? t % 2.5 < 1.5 : t > 9 && t < 9 + loudS;
    return { quietDb: isLoud ? 0 : 14, hz: 150, sway: 0.5 };
  });
  expect(turnsIn(samples, () => 0.9)).toHaveLength(turns);
});

test('the quiet rest of a sentence with two loud words is no voice in the background', () => {
  const samples = hum(5, (t) => {
    const isLoud = t < 0.6 || (t > 1.6 && t < 1.9);
    return { quietDb: t > 3.3 ? 90 : isLoud ? 0 : 12, hz: 150, sway: 0.5 };
  });
  const turns = turnsIn(samples, (hop) => (hop < 103 ? 0.9 : 0));
  expect(turns).toEqual([{ from: expect.closeTo(0.2, 0), to: expect.closeTo(3.3, 0) }]);
});
