import { array, assert, integer, property, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import type { Frames } from '../src/ctc/best-labels.ts';
import { StitchedText } from '../src/ctc/stitched-text.ts';
import { parseCtcTokens } from '../src/ctc/tokens.ts';

const PUBLISHED = ['<s>', '<pad>', '</s>', '<unk>', ' ', "'", 'a', 'b', 'ĩ'];
const tokens = tableOf(PUBLISHED);
const LETTERS = new Map(Object.entries({ ' ': 4, a: 6, b: 7, ĩ: 8, '-': 0 }));

function tableOf(list: readonly string[]) {
  const parsed = parseCtcTokens(list.map((token, at) => `${token} ${at}\n`).join(''));
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
}

/** One letter per frame. A dash is the blank. */
function frames(letters: string, probability = 1): Frames {
  const labels = Int32Array.from(letters.split(''), (letter) => LETTERS.get(letter) ?? 0);
  return { labels, logProbabilities: new Float32Array(labels.length).fill(Math.log(probability)) };
}

test('the blank is <blk> or else label 0, and special labels write nothing', () => {
  expect(tokens).toEqual({
    blank: 0,
    texts: ['', '', '', '', ' ', "'", 'a', 'b', 'ĩ'],
    usable: [0, 4, 5, 6, 7, 8],
  });
  expect(tableOf(['▁', 'a', '<blk>'])).toEqual({
    blank: 2,
    texts: [' ', 'a', ''],
    usable: [0, 1, 2],
  });
});

test('refuses tokens out of order and names the line', () => {
  expect(parseCtcTokens('<s> 0\na 2\n')).toContain('line 2');
});

test('writes a letter across two windows once', () => {
  const text = new StitchedText(tokens);
  text.add(frames('-aab'), { firstFrame: 0, keepTo: 2 });
  expect(text.transcript(1_000).text).toBe('ab');
  text.add(frames('aaab-'), { firstFrame: 1, keepTo: 6 });
  expect(text.transcript(1_000).text).toBe('ab');
});

test('words of kept frames are stable, the last one only if its space is kept', () => {
  const text = new StitchedText(tokens);
  text.add(frames('a-b- ĩ-a'), { firstFrame: 0, keepTo: 4 });
  expect(text.transcript(1_000)).toMatchObject({ text: 'ab ĩa', stableLength: 0 });
  text.add(frames('b- ĩ-b'), { firstFrame: 2, keepTo: 5 });
  expect(text.transcript(1_000)).toMatchObject({ text: 'ab ĩb', stableLength: 2 });
});

test('word times come from frames and confidence from letters', () => {
  const text = new StitchedText(tokens);
  text.add(frames('-aa-b- ĩ', 0.5), { firstFrame: 0, keepTo: 8 });
  expect(text.transcript(150).words).toEqual([
    { text: 'ab', startMs: 20, endMs: 100, confidence: 0.25 },
    { text: 'ĩ', startMs: 140, endMs: 150, confidence: 0.5 },
  ]);
});

test('stable text never changes', () => {
  const window = tuple(
    array(integer({ min: 0, max: 4 }), { maxLength: 12 }),
    integer({ min: 0, max: 6 }),
  );
  const alphabet = '-ab ĩ';
  assert(
    property(array(window, { maxLength: 12 }), (windows) => {
      const text = new StitchedText(tokens);
      let stable = '';
      for (const [labels, kept] of windows) {
        const letters = labels.map((label) => alphabet[label] ?? '-').join('');
        const firstFrame = text.keptFrames;
        text.add(frames(letters), { firstFrame, keepTo: firstFrame + kept });
        const { text: now, stableLength = 0, words } = text.transcript(100_000);
        expect(now.startsWith(stable)).toBe(true);
        expect(words.map((word) => word.text).join(' ')).toBe(now);
        stable = now.slice(0, stableLength);
      }
    }),
  );
});
