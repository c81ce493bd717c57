/**
 * What a language model makes of a text that grows letter by letter. `score` is the weighted sum so far in natural
 * logarithms, including what an unfinished word already costs.
 */
export interface TextState {
  readonly score: number;
}

/** Weighs the texts of a search. Knows nothing of frames or labels, so that any search can use it. */
export interface TextScorer {
  readonly begin: TextState;
  /** Adds letters; a space ends a word. */
  extend(state: TextState, text: string): TextState;
  /** The score if the text ends here. */
  end(state: TextState): number;
  /** The same scorer, but these words cost no more than other rare ones. Left out if it has no list of words. */
  withWords?(words: ReadonlySet<string>): TextScorer;
}

/** How much a language model counts in a search. */
export interface LmWeights {
  /** Factor of the language model's natural logarithms. */
  readonly alpha: number;
  /** Added for each word. */
  readonly beta: number;
  /** Added to the score of an unknown word, in logarithms to the base 10: pyctcdecode's unk_score_offset. -10 if left out. */
  readonly unknownOffset?: number;
}

export const LN_10 = Math.log(10);

/** Without a language model, all texts are equal. */
export const NO_SCORER: TextScorer = {
  begin: { score: 0 },
  extend: (state) => state,
  end: ({ score }) => score,
};
