import type { BeamSettings } from '../ctc/prefix-beam.ts';
import { KeytermScorer } from '../keyterms/keyterm-scorer.ts';
import type { KeytermTree } from '../keyterms/keyterm-tree.ts';
import type { TextScorer } from '../lm/text-scorer.ts';

/** A beam search with a scorer that all utterances share. */
export interface BeamSearch {
  readonly scorer: TextScorer;
  readonly settings: BeamSettings;
  /** Words are spelled as these are. */
  readonly keyterms?: KeytermTree;
}

/** The search of one utterance, which listens for its keyterms. `boost`: what a letter of one adds, to compare values. */
export function listeningFor(
  search: BeamSearch,
  keyterms: KeytermTree | undefined,
  boost?: number,
): BeamSearch {
  if (keyterms === undefined || keyterms.isEmpty) return search;
  return { ...search, scorer: new KeytermScorer(search.scorer, keyterms, boost), keyterms };
}
