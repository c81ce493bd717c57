import { expect, test } from 'vitest';
import { AUDIO } from '@svc-asr/protocol';
import { VoiceActivity, type FrameVerdict } from '../src/index.ts';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';

const RATE = AUDIO.sampleRateHz;

/** Feeds the detector in frames of odd sizes, as clients send them. */
function listen(samples: Int16Array, sizes: readonly number[] = [1_600]): FrameVerdict[] {
  const detector = new VoiceActivity();
  const verdicts: FrameVerdict[] = [];
  let at = 0;
  for (let turn = 0; at < samples.length; turn += 1) {
    const end = Math.min(samples.length, at + (sizes[turn % sizes.length] ?? 1));
    while (at < end) {
      const to = Math.min(end, at + detector.missing);
      const verdict = detector.push(samples.subarray(at, to));
      at = to;
      if (verdict !== null) verdicts.push(verdict);
    }
  }
  return verdicts;
}

function samplesOf(pcm: Uint8Array): Int16Array {
  const copy = pcm.slice();
  return new Int16Array(copy.buffer, 0, copy.byteLength / 2);
}

function noise(seconds: number, level: number): Int16Array {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647 - 0.5;
  };
  return Int16Array.from({ length: seconds * RATE }, () =>
    Math.round(2 * level * 32_768 * random()),
  );
}

/** Returns the start and end of the loud part of a clean recording. */
function extent(samples: Int16Array): { start: number; end: number } {
  const peak = samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
  const isLoud = (sample: number): boolean => Math.abs(sample) > 0.02 * peak;
  return { start: samples.findIndex(isLoud), end: samples.findLastIndex(isLoud) };
}

test('a sound that begins after silence is an onset for 240 ms, and noise that goes on is none', () => {
  const room = noise(2, 0.000_5);
  const hiss = noise(2, 0.01);
  const samples = Int16Array.from({ length: 2 * RATE }, (_, at) =>
    at < RATE ? (room[at] ?? 0) : (hiss[at] ?? 0),
  );
  const onsets = listen(samples).filter(({ isOnset }) => isOnset === true);
  expect(onsets[0]?.endSample).toBe(RATE + 320);
  expect(onsets.at(-1)?.endSample).toBe(RATE + 12 * 320);
  expect(listen(hiss).filter(({ isOnset }) => isOnset === true)).toEqual([]);
});

test.each(SPEECH)('finds where $name begins and ends to 100 ms', ({ pcm }) => {
  const spoken = samplesOf(pcm);
  const room = noise(4, 0.000_5);
  const whole = new Int16Array(2 * RATE + spoken.length + 2 * RATE);
  whole.set(room.subarray(0, 2 * RATE), 0);
  whole.set(spoken, 2 * RATE);
  whole.set(room.subarray(2 * RATE), 2 * RATE + spoken.length);
  const { start, end } = extent(whole);
  const speech = listen(whole).at(-1)?.speech;
  expect(Math.abs((speech?.startSample ?? Infinity) - start) / 16).toBeLessThanOrEqual(100);
  expect(Math.abs((speech?.lastSample ?? Infinity) - end) / 16).toBeLessThanOrEqual(160);
});

test('frame sizes do not change the verdicts', () => {
  const samples = samplesOf(SPEECH[0]?.pcm ?? new Uint8Array());
  expect(listen(samples, [1, 7, 319, 321, 4_000])).toEqual(listen(samples, [320]));
});

test.each([
  ['silence', new Int16Array(5 * RATE)],
  ['faint noise', noise(5, 0.002)],
  ['noise', noise(5, 0.02)],
  ['loud noise', noise(5, 0.3)],
])('detects no speech in %s', (_name, samples) => {
  expect(listen(samples).filter(({ speaking }) => speaking)).toEqual([]);
});

test('detects no speech in clicks', () => {
  const clicks = new Int16Array(5 * RATE);
  for (let at = 0; at < clicks.length; at += 4_001) clicks[at] = 20_000;
  expect(listen(clicks).filter(({ speaking }) => speaking)).toEqual([]);
});

/** Bursts of tones with pauses, in a quiet room. */
function bursts(
  hz: readonly number[],
  { onMs, offMs }: { onMs: number; offMs: number },
): Int16Array {
  const room = noise(5, 0.000_5);
  return room.map((sample, at) => {
    const t = at / RATE;
    if ((t * 1_000) % (onMs + offMs) < offMs) return sample;
    const tones = hz.reduce((sum, each) => sum + Math.sin(2 * Math.PI * each * t), 0);
    return sample + Math.round(0.1 * 32_768 * tones);
  });
}

test.each([
  ['the digit 1', bursts([697, 1_209], { onMs: 120, offMs: 100 })],
  ['the digit 9', bursts([852, 1_477], { onMs: 70, offMs: 70 })],
  ['British ringing', bursts([400, 450], { onMs: 400, offMs: 200 })],
  ['American ringing', bursts([440, 480], { onMs: 2_000, offMs: 1_000 })],
  ['a busy tone', bursts([425], { onMs: 500, offMs: 500 })],
  ['a dial tone', bursts([350, 440], { onMs: 4_000, offMs: 500 })],
  ['a beep', bursts([1_000], { onMs: 300, offMs: 700 })],
])('detects no speech in %s', (_name, samples) => {
  expect(listen(samples).filter(({ speaking }) => speaking)).toEqual([]);
});

test('detects no speech in barks, whose pitch is above that of any voice', () => {
  let phase = 0;
  const barks = noise(6, 0.000_5).map((sample, at) => {
    const t = (at / RATE) % 0.5;
    if (t > 0.2) return sample;
    const rise = Math.sin((Math.PI * t) / 0.2);
    phase += (2 * Math.PI * 520 * (1 + 0.3 * rise)) / RATE;
    const harmonics = [1, 2, 3, 4, 5].map((k) => Math.sin(k * phase) / k ** 0.7);
    return sample + 3_000 * rise * harmonics.reduce((sum, each) => sum + each, 0);
  });
  expect(listen(barks).filter(({ speaking }) => speaking)).toEqual([]);
});

test.each(SPEECH)('only the first 100 ms of a tone can prolong $name', ({ pcm }) => {
  const spoken = samplesOf(pcm);
  const tone = bursts([440, 480], { onMs: 4_500, offMs: 500 });
  const whole = new Int16Array(spoken.length + tone.length);
  whole.set(spoken);
  whole.set(tone, spoken.length);
  const lastSample = listen(whole).at(-1)?.speech?.lastSample ?? Infinity;
  const toneStart = spoken.length + 0.5 * RATE;
  expect((lastSample - toneStart) / 16).toBeLessThanOrEqual(100);
});

function loudest(samples: Int16Array): number {
  const peak = samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
  return samples.findIndex((sample) => Math.abs(sample) === peak);
}

test('speech reaches to the end of a final s, and no further', () => {
  const vowel = samplesOf(SPEECH[0]?.pcm ?? new Uint8Array());
  const quietRoom = noise(2, 0.000_5);
  const fricative = noise(1, 0.02).subarray(0, 0.15 * RATE);
  // The difference of neighbours leaves mostly the high half of the band.
  const s = fricative.map((sample, at) => (sample - (fricative[at - 1] ?? 0)) / 2);
  const end = loudest(vowel);
  const whole = new Int16Array(end + s.length + quietRoom.length);
  whole.set(vowel.subarray(0, end));
  whole.set(s, end);
  whole.set(quietRoom, end + s.length);
  const lastSample = listen(whole).at(-1)?.speech?.lastSample ?? 0;
  expect(Math.abs(lastSample - end - s.length) / 16).toBeLessThanOrEqual(60);
});

test('endSpeech makes the next speech start anew', () => {
  const samples = samplesOf(SPEECH[1]?.pcm ?? new Uint8Array());
  const detector = new VoiceActivity();
  const starts: number[] = [];
  let wasSpeaking = false;
  for (const round of [0, 1]) {
    for (let at = 0; at < samples.length;) {
      const to = Math.min(samples.length, at + detector.missing);
      const verdict = detector.push(samples.subarray(at, to));
      at = to;
      if (verdict === null) continue;
      if (verdict.speaking && !wasSpeaking) starts.push(verdict.speech?.startSample ?? -1);
      wasSpeaking = verdict.speaking;
    }
    if (round === 0) {
      detector.endSpeech();
      wasSpeaking = false;
    }
  }
  expect(starts).toHaveLength(2);
  expect(starts[1]).toBeGreaterThanOrEqual(samples.length);
});
