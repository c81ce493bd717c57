import { distance, words } from '@svc-asr/eval/scoring.ts';

/** Insertions, deletions and substitutions of words, and how many words were spoken. */
export function wordErrors(spoken: string, recognised: string): { errors: number; words: number } {
  const said = words(spoken);
  return { errors: distance(said, words(recognised)), words: said.length };
}

/** How many spoken words are missing in a text, and how many it has besides, in any order. */
export function compareWords(
  spoken: readonly string[],
  recognised: readonly string[],
): { missing: number; added: number } {
  const missing = [...spoken];
  let added = 0;
  for (const word of recognised) {
    const at = missing.indexOf(word);
    if (at < 0) added += 1;
    else missing.splice(at, 1);
  }
  return { missing: missing.length, added };
}
