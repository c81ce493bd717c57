import { CharacterScorer } from '../lm/character-scorer.ts';
import { NgramModel } from '../lm/ngram-model.ts';
import { NO_SCORER, type LmWeights, type TextScorer } from '../lm/text-scorer.ts';
import { WordPrefixes } from '../lm/word-prefixes.ts';
import { WordScorer } from '../lm/word-scorer.ts';
import type { BeamSettings } from './prefix-beam.ts';

/** How the text of a CTC model is searched for: `decoding` of a manifest. Greedy without it. */
export interface Decoding extends BeamSettings {
  readonly lm?: LanguageModelUse;
}

export interface LanguageModelUse extends LmWeights {
  /** An ARPA file or KenLM's probing binary. */
  readonly path: string;
  readonly unit: LmUnit;
}

/** What the n-grams of a language model consist of. */
export type LmUnit = 'character' | 'word';

/** Loads the language model, if there is one. Throws InvalidLanguageModel if it cannot be used. */
export async function loadScorer(decoding: Decoding): Promise<TextScorer> {
  if (decoding.lm === undefined) return NO_SCORER;
  return toScorer(await NgramModel.load(decoding.lm.path), decoding);
}

/** Makes scorers with different weights of one language model, which share what they know of its words. */
export function scorersOf(model: NgramModel, unit: LmUnit): (weights: LmWeights) => TextScorer {
  if (unit === 'character') return (weights) => new CharacterScorer(model, weights);
  const added = { prefixes: new WordPrefixes(model.words ?? []), words: new Set<string>() };
  return (weights) => new WordScorer(model, weights, added);
}

export function toScorer(model: NgramModel, { lm }: Decoding): TextScorer {
  if (lm === undefined) return NO_SCORER;
  return lm.unit === 'word' ? new WordScorer(model, lm) : new CharacterScorer(model, lm);
}
