import { readFile } from 'node:fs/promises';
import { CharacterScorer } from '../lm/character-scorer.ts';
import { NgramModel } from '../lm/ngram-model.ts';
import { NO_SCORER, type LmWeights, type TextScorer } from '../lm/text-scorer.ts';
import { Vocabulary, WordScorer } from '../lm/word-scorer.ts';
import type { BeamSettings } from './prefix-beam.ts';

/** How the text of a CTC model is searched for: `decoding` of a manifest. Greedy without it. */
export interface Decoding extends BeamSettings {
  readonly lm?: LanguageModelUse;
}

export interface LanguageModelUse extends LmWeights {
  /** An ARPA file or KenLM's probing binary. */
  readonly path: string;
  readonly unit: LmUnit;
  /** The known words of a model of words, one a line. All words of the model without it. */
  readonly unigrams?: string;
}

/** What the n-grams of a language model consist of. */
export type LmUnit = 'character' | 'word';

/** Loads the language model, if there is one. Throws InvalidLanguageModel if it cannot be used. */
export async function loadScorer({ lm }: Decoding): Promise<TextScorer> {
  if (lm === undefined) return NO_SCORER;
  const unigrams = lm.unigrams === undefined ? undefined : await readFile(lm.unigrams, 'utf8');
  return scorersOf(await NgramModel.load(lm.path), lm.unit, unigrams)(lm);
}

/** Makes scorers with different weights of one language model, which share what they know of its words. */
export function scorersOf(
  model: NgramModel,
  unit: LmUnit,
  unigrams?: string,
): (weights: LmWeights) => TextScorer {
  if (unit === 'character') return (weights) => new CharacterScorer(model, weights);
  const vocabulary = new Vocabulary(model, unigrams?.split(/\r?\n/).filter(Boolean));
  return (weights) => new WordScorer(model, weights, vocabulary);
}
