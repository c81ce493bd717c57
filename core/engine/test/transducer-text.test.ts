import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { KeytermScorer } from '../src/keyterms/keyterm-scorer.ts';
import { KeytermTree } from '../src/keyterms/keyterm-tree.ts';
import { NO_SCORER, type TextScorer } from '../src/lm/text-scorer.ts';
import { TransducerText } from '../src/transducer/transducer-text.ts';
import type { TokenContext } from '../src/transducer/transducer-beam.ts';

/** The blank, a special token, and pieces of words. */
const TEXTS = ['', '', ' a', ' b', 'a', 'b', ' ', 'ĩ'];
const KEYTERMS = new KeytermScorer(NO_SCORER, new KeytermTree(['baĩb', 'ab ba']), 1.5);

function begin(scorer: TextScorer, width: number, keyterms = new KeytermTree([])): TransducerText {
  const settings = { width, pruneHypotheses: 10, pruneLabels: 6 };
  return TransducerText.begin({ texts: TEXTS, contextTokens: 2, scorer, settings, keyterms });
}

/** Log-probabilities that depend on the frame and the context, as a joiner's do. */
function rowOf(seed: number, context: TokenContext): number[] {
  let state = (seed * 7919 + (context[0] ?? 0) * 104_729 + (context[1] ?? 0) * 1_299_709) >>> 0;
  const scores = TEXTS.map((_, token) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + token) >>> 0;
    return (token === 0 ? 2 : 0) + ((state % 1000) / 1000) * 4;
  });
  const all = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
  return scores.map((score) => score - all);
}

function advance(text: TransducerText, seed: number): void {
  text.step(Float64Array.from(text.hypotheses.flatMap(({ context }) => rowOf(seed, context))));
}

const UTTERANCE = record({
  frames: array(integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 120 }),
  chunk: integer({ min: 1, max: 16 }),
  width: constantFrom(1, 4, 16),
  scorer: constantFrom(NO_SCORER, KEYTERMS),
});

test('stable text never shrinks and is never contradicted, and the beam stays bounded', () => {
  assert(
    property(UTTERANCE, ({ frames, chunk, width, scorer }) => {
      const text = begin(scorer, width);
      let stable = '';
      const look = (): void => {
        const { text: shown, stableLength = 0 } = text.transcript(1e9);
        expect(shown.startsWith(stable)).toBe(true);
        expect(stableLength).toBeGreaterThanOrEqual(stable.length);
        stable = shown.slice(0, stableLength);
      };
      for (const [at, seed] of frames.entries()) {
        advance(text, seed);
        if (at % chunk === 0) text.commit();
        look();
        expect(text.hypotheses.length).toBeLessThanOrEqual(width);
        expect(text.prefixes).toBeLessThanOrEqual(width * (14 + chunk) * TEXTS.length);
      }
      text.end();
      look();
    }),
    { numRuns: 1_000 },
  );
});

test('text becomes stable 0.56 s after it was written', () => {
  const text = begin(NO_SCORER, 4);
  const write = (token: number): void => {
    const row = TEXTS.map((_, at) => (at === token ? Math.log(0.9) : Math.log(0.1 / 7)));
    text.step(Float64Array.from(text.hypotheses.flatMap(() => row)));
    text.commit();
  };
  write(2);
  write(3);
  for (let frame = 0; frame < 12; frame += 1) write(0);
  expect(text.transcript(1e9)).toMatchObject({ text: 'a b', stableLength: 0 });
  write(0);
  expect(text.transcript(1e9)).toMatchObject({ text: 'a b', stableLength: 2 });
});

/** Writes b, a and b; between the last two, a is likelier than ĩ. */
function spell(scorer: TextScorer, keyterms?: KeytermTree): string {
  const text = begin(scorer, 4, keyterms);
  const sounds = [
    [3, 3],
    [4, 4],
    [4, 7],
    [5, 5],
  ] as const;
  for (const [likely, other] of sounds) {
    const row = TEXTS.map((_, at) => {
      if (at === likely) return Math.log(0.6);
      return Math.log(at === other ? 0.3 : 0.01);
    });
    text.step(Float64Array.from(text.hypotheses.flatMap(() => row)));
  }
  text.end();
  return text.transcript(1e9).text;
}

test('a keyterm wins over text that sounds a little better', () => {
  expect(spell(NO_SCORER)).toBe('baab');
  expect(spell(KEYTERMS)).toBe('baĩb');
});

test('a word that differs from a keyterm only in spelling is written as the keyterm', () => {
  expect(spell(NO_SCORER, new KeytermTree(['bab']))).toBe('bab');
});
