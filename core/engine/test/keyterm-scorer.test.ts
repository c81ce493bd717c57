import { array, assert, constantFrom, integer, property, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import { KeytermScorer } from '../src/keyterms/keyterm-scorer.ts';
import { KeytermTree } from '../src/keyterms/keyterm-tree.ts';
import { readArpa } from '../src/lm/arpa.ts';
import { CharacterScorer } from '../src/lm/character-scorer.ts';
import { NgramModel } from '../src/lm/ngram-model.ts';
import { NO_SCORER, type TextScorer } from '../src/lm/text-scorer.ts';
import { WordScorer } from '../src/lm/word-scorer.ts';

const LETTERS = modelOf('a', 'b', '▁');
const WORDS = modelOf('ab', 'ba', 'a');
const WEIGHTS = { alpha: 1, beta: 0.5 };
const CHARACTERS = new CharacterScorer(LETTERS, WEIGHTS);
const BOOST = 0.75;

const word = array(constantFrom('a', 'b'), { minLength: 1, maxLength: 4 }).map((all) =>
  all.join(''),
);
const phrase = array(word, { minLength: 1, maxLength: 3 }).map((all) => all.join(' '));
const text = array(word, { maxLength: 8 }).map((all) => all.join(' '));
const terms = array(phrase, { maxLength: 6 });

function modelOf(one: string, other: string, third: string): NgramModel {
  const rows = [one, other, third].map((name, at) => `-0.${7 + at}\t${name}\t-0.3`).join('\n');
  const first = `-2\t<unk>\n0\t<s>\t-0.3\n-1\t</s>\n${rows}`;
  const second = `-0.2\t<s> ${one}`;
  return new NgramModel(
    readArpa(
      `\\data\\\nngram 1=6\nngram 2=1\n\n\\1-grams:\n${first}\n\n\\2-grams:\n${second}\n\n\\end\\\n`,
    ),
  );
}

function scoreOf(scorer: TextScorer, letters: string): number {
  let state = scorer.begin;
  for (const letter of letters) state = scorer.extend(state, letter);
  return scorer.end(state);
}

function boosted(list: readonly string[], inner: TextScorer = NO_SCORER): KeytermScorer {
  return new KeytermScorer(inner, new KeytermTree(list), BOOST);
}

/** The letters of all whole words that are part of some keyterm, each counted once. */
function lettersInTerms(written: string, list: readonly string[]): number {
  const covered = new Set<number>();
  const padded = ` ${written} `;
  for (const term of list) {
    for (let at = padded.indexOf(` ${term} `); at >= 0; at = padded.indexOf(` ${term} `, at + 1)) {
      for (let letter = 1; letter <= term.length; letter += 1) {
        if (padded[at + letter] !== ' ') covered.add(at + letter);
      }
    }
  }
  return covered.size;
}

test('a finished text has a boost for each letter of the keyterms in it, and no other', () => {
  assert(
    property(text, terms, (written, list) => {
      const letters = lettersInTerms(written, list);
      expect(scoreOf(boosted(list), written)).toBeCloseTo(BOOST * letters, 9);
    }),
  );
});

test('a text without keyterms has exactly the score that it has without them', () => {
  assert(
    property(tuple(text, terms), ([written, list]) => {
      const absent = list.filter((term) => !` ${written} `.includes(` ${term} `));
      expect(scoreOf(boosted(absent, CHARACTERS), written)).toBe(scoreOf(CHARACTERS, written));
    }),
  );
});

test('every letter that continues a keyterm raises the score, and the letter that fails takes all back', () => {
  assert(
    property(word, integer({ min: 0, max: 3 }), (term, after) => {
      const scorer = boosted([term, `${term} ${term}`]);
      const begun = term.slice(0, after);
      let state = scorer.begin;
      for (const [at, letter] of begun.split('').entries()) {
        state = scorer.extend(state, letter);
        expect(state.score).toBe(BOOST * (at + 1));
      }
      expect(scorer.extend(state, 'c').score).toBe(0);
    }),
  );
});

test('a keyterm of two words keeps the boost of a keyterm that its first word is', () => {
  const scorer = boosted(['ab', 'ab ba']);
  expect(scoreOf(scorer, 'ab ba')).toBe(4 * BOOST);
  expect(scoreOf(scorer, 'ab bb')).toBe(2 * BOOST);
  expect(scoreOf(boosted(['ab ba']), 'ab bb')).toBe(0);
});

test('labels of several letters score like the letters one by one', () => {
  const scorer = boosted(['ab ba']);
  const whole = scorer.extend(scorer.extend(scorer.begin, 'ab '), 'ba');
  expect(scorer.end(whole)).toBe(scoreOf(scorer, 'ab ba'));
});

test('a word model takes an unknown keyterm without the penalty for unknown words', () => {
  const plain = new WordScorer(WORDS, WEIGHTS);
  const keyterms = new KeytermScorer(plain, new KeytermTree(['bbb']), 0);
  expect(scoreOf(plain, 'bbb')).toBeLessThan(scoreOf(plain, 'ab') - 20);
  expect(scoreOf(keyterms, 'bbb')).toBeGreaterThan(scoreOf(plain, 'bbb') + 20);
  expect(keyterms.extend(keyterms.begin, 'bb').score).toBe(0);
  expect(plain.extend(plain.begin, 'bb').score).toBeLessThan(-5);
  expect(scoreOf(keyterms, 'bbba')).toBe(scoreOf(plain, 'bbba'));
});

test('a text that repeats the start of a long keyterm is followed at few places', () => {
  const term = Array.from({ length: 400 }, () => 'a').join(' ');
  const scorer = boosted([term]);
  let state = scorer.begin;
  for (let at = 0; at < 300; at += 1) state = scorer.extend(state, 'a ');
  expect(state.matches.length).toBeLessThanOrEqual(8);
});

test.each([
  ['wanjirũ', 'wanjiru'],
  ['mũciri', 'mũchiri'],
  ['okelo', 'okello'],
  ["ng'ang'a", 'nganga'],
  ["ng'ang'a", "ng'anga"],
])('%s is written as the keyterm %s, which differs only in spelling, and back', (one, other) => {
  expect(new KeytermTree(['kamau', other]).spell(one)).toBe(other);
  expect(new KeytermTree([one, 'kamau']).spell(other)).toBe(one);
});

test('words that sound different, keyterms themselves and parts of longer keyterms stay as they are', () => {
  const tree = new KeytermTree(['okello', 'okelo', 'njoki wa kamau', 'odero']);
  for (const word of ['okello', 'okelo', 'kamaũ', 'odiero', 'odera']) {
    expect(tree.spell(word)).toBe(word);
  }
});
