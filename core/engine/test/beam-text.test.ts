import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { BeamText } from '../src/ctc/beam-text.ts';
import type { Logits } from '../src/ctc/logits.ts';
import type { BeamSettings } from '../src/ctc/prefix-beam.ts';
import { StitchedText } from '../src/ctc/stitched-text.ts';
import { parseCtcTokens } from '../src/ctc/tokens.ts';
import { KeytermTree } from '../src/keyterms/keyterm-tree.ts';
import { readArpa } from '../src/lm/arpa.ts';
import { CharacterScorer } from '../src/lm/character-scorer.ts';
import { NgramModel } from '../src/lm/ngram-model.ts';
import { NO_SCORER, type TextScorer } from '../src/lm/text-scorer.ts';
import { WordScorer } from '../src/lm/word-scorer.ts';

const NAMES = ['<s>', '<pad>', ' ', 'a', 'b', 'ĩ'];
const parsed = parseCtcTokens(NAMES.map((name, at) => `${name} ${at}\n`).join(''));
if (typeof parsed === 'string') throw new Error(parsed);
const tokens = parsed;
const LABELS = [0, 2, 3, 4, 5];
const SETTINGS: BeamSettings = { width: 16, pruneHypotheses: 10, pruneLabels: 6 };

/** After a comes b, after ĩ a space. Words: ab, aĩ. */
const LETTERS = new NgramModel(
  readArpa(`\\data\\
ngram 1=7
ngram 2=4

\\1-grams:
-2\t<unk>
0\t<s>\t-0.3
-1\t</s>
-0.8\ta\t-0.3
-0.9\tb\t-0.3
-1.2\tĩ\t-0.3
-0.9\t▁\t-0.3

\\2-grams:
-0.2\t<s> a
-0.1\ta b
-0.9\ta ĩ
-0.2\tĩ ▁

\\end\\
`),
);
const WORDS = new NgramModel(
  readArpa(`\\data\\
ngram 1=5
ngram 2=2

\\1-grams:
-3\t<unk>
0\t<s>\t-0.3
-1\t</s>
-0.5\tab\t-0.3
-0.9\taĩ\t-0.3

\\2-grams:
-0.1\t<s> ab
-0.1\tab aĩ

\\end\\
`),
);
const WEIGHTS = { alpha: 1, beta: 0.5 };
const SCORERS: readonly TextScorer[] = [
  NO_SCORER,
  new CharacterScorer(LETTERS, WEIGHTS),
  new WordScorer(WORDS, WEIGHTS),
];

function beam(scorer: TextScorer, settings = SETTINGS, keyterms = new KeytermTree([])): BeamText {
  return new BeamText(tokens, { scorer, settings, keyterms });
}

/** Each frame has a row of scores for the six labels. */
function logitsOf(rows: readonly (readonly number[])[]): Logits {
  return { logits: Float32Array.from(rows.flat()), count: rows.length, width: NAMES.length };
}

/** The likeliest label of each frame by its letter; a dash is the blank. The others share the rest. */
function said(letters: string, probability = 0.9): Logits {
  const rest = Math.log((1 - probability) / (NAMES.length - 1));
  return logitsOf(
    letters.split('').map((letter) => {
      const label = letter === '-' ? 0 : NAMES.indexOf(letter);
      return NAMES.map((_, at) => (at === label ? Math.log(probability) : rest));
    }),
  );
}

function bestLabels({ logits, count, width }: Logits) {
  const labels = new Int32Array(count);
  for (let frame = 0; frame < count; frame += 1) {
    const row = logits.subarray(frame * width, (frame + 1) * width);
    labels[frame] = LABELS.reduce((best, label) =>
      (row[label] ?? 0) > (row[best] ?? 0) ? label : best,
    );
  }
  return { labels, logProbabilities: new Float32Array(count) };
}

/** Overlapping windows: the frames' scores, and how many of them are final. */
const windows = array(
  record({
    rows: array(array(integer({ min: -9, max: 9 }), { minLength: 6, maxLength: 6 }), {
      maxLength: 24,
    }),
    kept: integer({ min: 0, max: 26 }),
  }),
  { maxLength: 10 },
);

test('a beam of one without a language model writes what greedy decoding writes, letter by letter', () => {
  assert(
    property(windows, (list) => {
      const searched = beam(NO_SCORER, { ...SETTINGS, width: 1 });
      const greedy = new StitchedText(tokens);
      for (const { rows, kept } of list) {
        const place = { firstFrame: greedy.keptFrames, keepTo: greedy.keptFrames + kept };
        const window = logitsOf(rows);
        searched.add(window, place);
        greedy.add(bestLabels(window), place);
        const [one, other] = [searched.transcript(100_000), greedy.transcript(100_000)];
        const timed = (words: typeof one.words) =>
          words.map(({ text, startMs, endMs }) => ({ text, startMs, endMs }));
        expect(one.text).toBe(other.text);
        expect(one.stableLength).toBe(other.stableLength);
        expect(timed(one.words)).toEqual(timed(other.words));
      }
    }),
    { numRuns: 500 },
  );
});

test('stable text never changes, words stay in order, and the beam stays within its width', () => {
  const settings = { ...SETTINGS, width: 8, pruneHypotheses: 30 };
  const lists = [[], ['a', 'b', 'i']];
  assert(
    property(windows, constantFrom(...SCORERS), constantFrom(...lists), (list, scorer, terms) => {
      const text = beam(scorer, settings, new KeytermTree(terms));
      let stable = '';
      for (const [at, { rows, kept }] of list.entries()) {
        const firstFrame = text.keptFrames;
        text.add(logitsOf(rows), { firstFrame, keepTo: firstFrame + kept });
        if (at === list.length - 1) text.end();
        const { text: now, stableLength = 0, words } = text.transcript(100_000);
        expect(now.startsWith(stable)).toBe(true);
        expect(words.map((word) => word.text).join(' ')).toBe(now);
        expect(text.hypotheses).toBeGreaterThan(0);
        expect(text.hypotheses).toBeLessThanOrEqual(settings.width);
        const starts = words.map((word) => word.startMs);
        expect(starts).toEqual(starts.toSorted((one, other) => one - other));
        expect(words.filter((word) => word.endMs < word.startMs)).toEqual([]);
        stable = now.slice(0, stableLength);
      }
    }),
  );
});

test('the same windows give the same text, whatever other streams decode meanwhile', () => {
  assert(
    property(windows, windows, constantFrom(...SCORERS), (own, others, scorer) => {
      const alone = beam(scorer);
      const beside = beam(scorer);
      const other = beam(scorer);
      for (const [at, { rows, kept }] of own.entries()) {
        const place = { firstFrame: alone.keptFrames, keepTo: alone.keptFrames + kept };
        alone.add(logitsOf(rows), place);
        const theirs = others[at];
        if (theirs !== undefined) {
          const firstFrame = other.keptFrames;
          other.add(logitsOf(theirs.rows), { firstFrame, keepTo: firstFrame + theirs.kept });
        }
        beside.add(logitsOf(rows), place);
        expect(beside.transcript(100_000)).toEqual(alone.transcript(100_000));
      }
    }),
  );
});

test('a language model of characters corrects a letter, one of words a word', () => {
  const unsure = logitsOf([
    [-9, -9, -9, 0, -9, -9],
    [-9, -9, -9, -9, 0, 0.3],
    [0, -9, -9, -9, -9, -9],
  ]);
  const texts = SCORERS.map((scorer) => {
    const text = beam(scorer);
    text.add(unsure, { firstFrame: 0, keepTo: 0 });
    text.end();
    return text.transcript(1_000).text;
  });
  expect(texts).toEqual(['aĩ', 'ab', 'ab']);
});

test('a word that differs from a keyterm only in spelling is written as the keyterm', () => {
  const text = beam(NO_SCORER, SETTINGS, new KeytermTree(['aai']));
  text.add(said('aĩ- -ab- '), { firstFrame: 0, keepTo: 9 });
  expect(text.transcript(100_000)).toMatchObject({
    text: 'aai ab',
    stableLength: 'aai ab'.length,
    words: [{ text: 'aai' }, { text: 'ab' }],
  });
});

test('sums the alignments of a text, which greedy decoding does not', () => {
  const frame = [Math.log(0.4), -99, -99, Math.log(0.35), -99, -99];
  const text = beam(NO_SCORER);
  text.add(logitsOf([frame, frame]), { firstFrame: 0, keepTo: 0 });
  text.end();
  // Blank twice has 0.16 of 0.56; a in one or both frames has 0.40.
  expect(text.transcript(1_000).text).toBe('a');
});

test('word times come from frames and confidence from letters', () => {
  const text = beam(NO_SCORER);
  text.add(said('-aa-b- ĩ', 0.98), { firstFrame: 0, keepTo: 8 });
  expect(text.transcript(150).words).toEqual([
    { text: 'ab', startMs: 20, endMs: 100, confidence: 0.96 },
    { text: 'ĩ', startMs: 140, endMs: 150, confidence: 0.98 },
  ]);
});

test('ten minutes in which nobody speaks leaves the beam as small as it was', () => {
  const text = beam(SCORERS[1] ?? NO_SCORER, { ...SETTINGS, pruneLabels: 30 });
  const window = said('-'.repeat(56), 0.6);
  for (let chunk = 0; chunk < 536; chunk += 1) {
    text.add(window, { firstFrame: text.keptFrames, keepTo: text.keptFrames + 56 });
  }
  expect(text.keptFrames).toBe(536 * 56);
  expect(text.hypotheses).toBeLessThanOrEqual(SETTINGS.width);
  expect(text.prefixes).toBeLessThan(SETTINGS.width * 28);
  expect(text.transcript(600_000).text).toBe('');
});
