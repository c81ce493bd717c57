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
