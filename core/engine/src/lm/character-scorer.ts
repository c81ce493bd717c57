import type { Context, NgramModel } from './ngram-model.ts';
import { LN_10, type LmWeights, type TextScorer, type TextState } from './text-scorer.ts';

/** How character models write the space between words. */
const SPACE = '▁';

interface CharacterState extends TextState {
  readonly context: Context;
  readonly inWord: boolean;
}

/** A language model of characters: every letter has a score, also in words that nobody has written before. */
export class CharacterScorer implements TextScorer {
  readonly begin: CharacterState;
  readonly #model: NgramModel;
  readonly #alpha: number;
  readonly #beta: number;
  readonly #ids = new Map<string, number>();

  constructor(model: NgramModel, weights: LmWeights) {
    this.#model = model;
    this.#alpha = weights.alpha * LN_10;
    this.#beta = weights.beta;
    this.begin = { score: 0, context: model.begin, inWord: false };
    for (const word of model.words ?? []) this.#ids.set(word, model.idOf(word));
  }

  extend(state: CharacterState, text: string): CharacterState {
    let { score, context, inWord } = state;
    for (const letter of text) {
      const isSpace = letter === ' ';
      // Words are separated by one space, and no text starts with one.
      if (isSpace && !inWord) continue;
      const { log10, next } = this.#model.score(context, this.#idOf(isSpace ? SPACE : letter));
      score += this.#alpha * log10 + (isSpace ? this.#beta : 0);
      context = next;
      inWord = !isSpace;
    }
    return { score, context, inWord };
  }

  /** A space at the end is no part of the text, but it has been paid for. */
  end(state: CharacterState): number {
    const last = state.inWord ? this.#beta : 0;
    return state.score + last + this.#alpha * this.#model.endLog10(state.context);
  }

  #idOf(letter: string): number {
    return this.#ids.get(letter) ?? this.#model.idOf(letter);
  }
}
