import { InvalidLanguageModel } from './kenlm-binary.ts';
import type { Context, NgramModel } from './ngram-model.ts';
import { UNKNOWN } from './ngram-tables.ts';
import { LN_10, type LmWeights, type TextScorer, type TextState } from './text-scorer.ts';
import { WordPrefixes } from './word-prefixes.ts';

/** The rules and constants of pyctcdecode, for which published weights were tuned. */
const UNKNOWN_LOG10 = -10;
const UNKNOWN_PREFIX = -10;
const LETTERS_USUAL = 6;

interface WordState extends TextState {
  /** The score without the unfinished word. */
  readonly whole: number;
  readonly context: Context;
  readonly word: string;
}

/** A language model of words: a word is scored when it ends; until then only whether any known word starts like it. */
export class WordScorer implements TextScorer {
  readonly begin: WordState;
  readonly #model: NgramModel;
  readonly #prefixes: WordPrefixes;
  readonly #weights: LmWeights;
  readonly #alpha: number;
  readonly #beta: number;
  /** Words that are no longer unknown, and how they start. */
  readonly #added: { words: ReadonlySet<string>; prefixes: WordPrefixes } | null;

  constructor(
    model: NgramModel,
    weights: LmWeights,
    added?: { readonly prefixes: WordPrefixes; readonly words: ReadonlySet<string> },
  ) {
    if (model.words === null)
      throw new InvalidLanguageModel('a model of words needs its word list');
    this.#model = model;
    this.#prefixes = added?.prefixes ?? new WordPrefixes(model.words);
    this.#weights = weights;
    this.#alpha = weights.alpha * LN_10;
    this.#beta = weights.beta;
    this.#added =
      added === undefined
        ? null
        : { words: added.words, prefixes: new WordPrefixes([...added.words]) };
    this.begin = { score: 0, whole: 0, context: model.begin, word: '' };
  }

  extend(state: WordState, text: string): WordState {
    let next = state;
    for (const letter of text) {
      if (letter !== ' ') {
        const word = next.word + letter;
        next = { ...next, word, score: next.whole + this.#prefixScore(word) };
      } else if (next.word !== '') {
        next = this.#endWord(next);
      }
    }
    return next;
  }

  end(state: WordState): number {
    const { whole, context } = state.word === '' ? state : this.#endWord(state);
    return whole + this.#alpha * this.#model.endLog10(context);
  }

  withWords(words: ReadonlySet<string>): WordScorer {
    return new WordScorer(this.#model, this.#weights, { prefixes: this.#prefixes, words });
  }

  #endWord({ whole, context, word }: WordState): WordState {
    const id = this.#model.idOf(word);
    const { log10, next } = this.#model.score(context, id);
    const isUnknown = id === UNKNOWN && this.#added?.words.has(word) !== true;
    const known = isUnknown ? log10 + UNKNOWN_LOG10 : log10;
    const score = whole + this.#alpha * known + this.#beta;
    return { score, whole: score, context: next, word: '' };
  }

  #prefixScore(word: string): number {
    if (this.#prefixes.has(word) || this.#added?.prefixes.has(word) === true) return 0;
    return (UNKNOWN_PREFIX * Math.max(LETTERS_USUAL, word.length)) / LETTERS_USUAL;
  }
}
