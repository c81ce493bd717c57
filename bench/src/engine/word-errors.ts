import { distance, words } from '@svc-asr/eval/scoring.ts';

/** Insertions, deletions and substitutions of words, and how many words were spoken. */
export function wordErrors(spoken: string, recognised: string): { errors: number; words: number } {
  const said = words(spoken);
  return { errors: distance(said, words(recognised)), words: said.length };
}
