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
  readonly #alpha: number;
  readonly #beta: number;

  constructor(model: NgramModel, weights: LmWeights) {
    if (model.words === null)
      throw new InvalidLanguageModel('a model of words needs its word list');
    this.#model = model;
    this.#prefixes = new WordPrefixes(model.words);
    this.#alpha = weights.alpha * LN_10;
    this.#beta = weights.beta;
    this.begin = { score: 0, whole: 0, context: model.begin, word: '' };
  }

  extend(state: WordState, text: string): WordState {
    let now = state;
    for (const letter of text) {
      if (letter !== ' ') {
        const word = now.word + letter;
        now = { ...now, word, score: now.whole + this.#prefixScore(word) };
      } else if (now.word !== '') {
        now = this.#endWord(now);
      }
    }
    return now;
  }

  end(state: WordState): number {
    const { whole, context } = state.word === '' ? state : this.#endWord(state);
    return whole + this.#alpha * this.#model.endLog10(context);
  }

  #endWord({ whole, context, word }: WordState): WordState {
    const id = this.#model.idOf(word);
    const { log10, next } = this.#model.score(context, id);
    const known = id === UNKNOWN ? log10 + UNKNOWN_LOG10 : log10;
    const score = whole + this.#alpha * known + this.#beta;
    return { score, whole: score, context: next, word: '' };
  }

  #prefixScore(word: string): number {
    if (this.#prefixes.has(word)) return 0;
    return (UNKNOWN_PREFIX * Math.max(LETTERS_USUAL, word.length)) / LETTERS_USUAL;
  }
}
