import { array, assert, constantFrom, integer, property, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import { toTranscript } from '../src/recognisers/sherpa-transcript.ts';
import { stableLength } from '../src/words.ts';

const AUDIO = { leadInMs: 107.5, audioMs: 4_000 };
const tokens = array(
  tuple(constantFrom(' ', 'a', 'ĩ', 'ng', ' m', "'"), integer({ min: 0, max: 3 })),
);

function said(steps: readonly (readonly [string, number])[]) {
  let frame = 0;
  const timestamps = steps.map(([, later]) => (frame += later) * 0.08);
  const letters = steps.map(([token]) => token);
  return toTranscript({ text: letters.join(''), tokens: letters, timestamps }, AUDIO);
}

test('groups letters into words with times relative to the audio', () => {
  const result = {
    text: ' nĩ we',
    tokens: [' ', 'n', 'ĩ', ' ', 'w', 'e'],
    timestamps: [0, 0.08, 0.24, 0.4, 0.4, 0.56],
  };
  expect(toTranscript(result, { leadInMs: 100, audioMs: 500 })).toEqual({
    text: 'nĩ we',
    words: [
      { text: 'nĩ', startMs: 0, endMs: 220 },
      { text: 'we', startMs: 300, endMs: 500 },
    ],
  });
});

test('a word has the probability of its letters and the spaces around it', () => {
  const result = {
    text: ' nĩ we',
    tokens: [' ', 'n', 'ĩ', ' ', 'w', 'e'],
    timestamps: [0, 0.08, 0.24, 0.4, 0.4, 0.56],
    ys_probs: [0.9, 1, 0.5, 0.8, 1, 1].map(Math.log),
  };
  const { words } = toTranscript(result, AUDIO);
  expect(words.map(({ confidence }) => confidence)).toEqual([0.36, 0.8]);
  const unknownDropped = { ...result, ys_probs: [...result.ys_probs, 0] };
  expect(toTranscript(unknownDropped, AUDIO).words[0]).not.toHaveProperty('confidence');
});

test('the words are the words of the text, in order and inside the audio', () => {
  assert(
    property(tokens, (steps) => {
      const { text, words } = said(steps);
      expect(words.map((word) => word.text)).toEqual(text.split(/\s+/u).filter(Boolean));
      let beforeMs = 0;
      for (const { startMs, endMs } of words) {
        expect(startMs).toBeGreaterThanOrEqual(beforeMs);
        expect(endMs).toBeGreaterThanOrEqual(startMs);
        expect(endMs).toBeLessThanOrEqual(AUDIO.audioMs);
        beforeMs = startMs;
      }
    }),
  );
});

test('stable text is a prefix of every later text', () => {
  assert(
    property(tokens, integer({ min: 0, max: 40 }), (steps, heard) => {
      const early = said(steps.slice(0, heard)).text;
      const late = said(steps).text;
      expect(late.startsWith(early.slice(0, stableLength(early)))).toBe(true);
    }),
  );
});
