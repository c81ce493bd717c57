import { InvalidLanguageModel } from './kenlm-binary.ts';
import type { Context, NgramModel } from './ngram-model.ts';
import { UNKNOWN } from './ngram-tables.ts';
import { LN_10, type LmWeights, type TextScorer, type TextState } from './text-scorer.ts';
import { WordPrefixes } from './word-prefixes.ts';

/** The rules and constants of pyctcdecode, for which published weights were tuned. */
const UNKNOWN_OFFSET = -10;
const LETTERS_USUAL = 6;

interface WordState extends TextState {
  /** The score without the unfinished word. */
  readonly whole: number;
  readonly context: Context;
  readonly word: string;
}

/** The words that a language model of words knows, and how they start. All its scorers share them. */
export class Vocabulary {
  readonly prefixes: WordPrefixes;
  /** Null if all words of the model are known. */
  readonly #listed: ReadonlySet<string> | null;

  /** `listed`: the word list that was published with the model. Its other words are then unknown. */
  constructor(model: NgramModel, listed?: readonly string[]) {
    const words = listed?.filter((word) => model.idOf(word) !== UNKNOWN) ?? model.words;
    if (words === null) throw new InvalidLanguageModel('a model of words needs its word list');
    if (words.length === 0) throw new InvalidLanguageModel('it has no word of its word list');
    this.prefixes = new WordPrefixes(words);
    this.#listed = listed === undefined ? null : new Set(words);
  }

  has(word: string, id: number): boolean {
    return this.#listed === null ? id !== UNKNOWN : this.#listed.has(word);
  }
}

/** A language model of words: a word is scored when it ends; until then only whether any known word starts like it. */
export class WordScorer implements TextScorer {
  readonly begin: WordState;
  readonly #model: NgramModel;
  readonly #vocabulary: Vocabulary;
  readonly #weights: LmWeights;
  readonly #alpha: number;
  readonly #beta: number;
  readonly #unknownOffset: number;
  /** Words that are no longer unknown, and how they start. */
  readonly #added: { words: ReadonlySet<string>; prefixes: WordPrefixes } | null;

  constructor(
    model: NgramModel,
    weights: LmWeights,
    vocabulary = new Vocabulary(model),
    added?: ReadonlySet<string>,
  ) {
    this.#model = model;
    this.#vocabulary = vocabulary;
    this.#weights = weights;
    this.#alpha = weights.alpha * LN_10;
    this.#beta = weights.beta;
    this.#unknownOffset = weights.unknownOffset ?? UNKNOWN_OFFSET;
    this.#added =
      added === undefined ? null : { words: added, prefixes: new WordPrefixes([...added]) };
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
    return new WordScorer(this.#model, this.#weights, this.#vocabulary, words);
  }

  #endWord({ whole, context, word }: WordState): WordState {
    const id = this.#model.idOf(word);
    const { log10, next } = this.#model.score(context, id);
    const isKnown = this.#vocabulary.has(word, id) || this.#added?.words.has(word) === true;
    const weighed = isKnown ? log10 : log10 + this.#unknownOffset;
    const score = whole + this.#alpha * weighed + this.#beta;
    return { score, whole: score, context: next, word: '' };
  }

  #prefixScore(word: string): number {
    if (this.#vocabulary.prefixes.has(word) || this.#added?.prefixes.has(word) === true) return 0;
    return (this.#unknownOffset * Math.max(LETTERS_USUAL, word.length)) / LETTERS_USUAL;
  }
}
