import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { VoiceGate } from '../src/audio.ts';

const RATE = 16_000;

function noise(seconds: number, amplitude: number, seed = 1): Int16Array {
  let state = seed;
  return Int16Array.from({ length: seconds * RATE }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return (state / 2 ** 30 - 1) * amplitude;
  });
}

/** Alternates between loud and quiet, like syllables. */
function speech(seconds: number): Int16Array {
  return Int16Array.from(
    { length: seconds * RATE },
    (_, at) => 6_000 * Math.sin(at / 12) * (0.55 + 0.45 * Math.sin((at * 2 * Math.PI * 4) / RATE)),
  );
}

function join(...parts: Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

/** Returns the audio that passed the gate, with the time of each piece. */
function pass(audio: Int16Array, cut = 1_600) {
  const gate = new VoiceGate();
  const sent: { atMs: number; samples: Int16Array }[] = [];
  let atMs = 0;
  const take = (output: ReturnType<VoiceGate['push']>): void => {
    for (const step of output) {
      if (step.do === 'skip') atMs += step.ms;
      else {
        sent.push({ atMs, samples: step.samples });
        atMs += (step.samples.length * 1000) / RATE;
      }
    }
  };
  for (let at = 0; at < audio.length; at += cut) take(gate.push(audio.subarray(at, at + cut)));
  take(gate.end());
  return { sent, sentMs: sent.reduce((sum, { samples }) => sum + samples.length / 16, 0) };
}

test('sends less than four of ten seconds that contain two seconds of speech', () => {
  const { sentMs } = pass(join(noise(4, 40), speech(2), noise(4, 40)));
  expect(sentMs).toBeGreaterThanOrEqual(2_000);
  expect(sentMs).toBeLessThan(4_000);
});

test('sends nothing of a quiet room, and little of a humming one before the noise floor has adapted', () => {
  expect(pass(noise(10, 30)).sentMs).toBe(0);
  expect(pass(noise(20, 400)).sentMs).toBeLessThan(3_000);
});

test('passes all of the speech, with some audio before it', () => {
  const audio = join(noise(2, 40), speech(2), noise(2, 40));
  const { sent } = pass(audio);
  const first = sent[0]?.atMs ?? Infinity;
  const last = sent.at(-1);
  expect(first).toBeLessThan(2_000);
  expect(first).toBeGreaterThan(1_500);
  expect((last?.atMs ?? 0) + 20).toBeGreaterThan(4_000);
});

test('sends everything before speech that starts in the first second, and 300 ms before later speech', () => {
  const early = pass(join(noise(0.9, 40), speech(1)));
  expect(early.sent[0]?.atMs).toBe(0);
  expect(early.sentMs).toBe(1_900);
  const late = pass(join(noise(1.2, 40), speech(1)));
  expect(late.sent[0]?.atMs).toBe(900);
});

test('sends unchanged samples at the reported times, for any chunk sizes', () => {
  const audio = join(noise(1, 40), speech(1), noise(2, 40), speech(1), noise(1, 40));
  const whole = pass(audio);
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 20_000 }), (cut) => {
      const { sent, sentMs } = pass(audio, cut);
      expect(sentMs).toBe(whole.sentMs);
      for (const { atMs, samples } of sent) {
        expect(samples).toEqual(audio.slice(atMs * 16, atMs * 16 + samples.length));
      }
    }),
    { numRuns: 20 },
  );
});
