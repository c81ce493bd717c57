import { distance, words } from '@svc-asr/protocol/word-errors.ts';

export { distance, normalise, withoutTilde, words } from '@svc-asr/protocol/word-errors.ts';

/** Error counts summed over utterances. */
export interface Score {
  utterances: number;
  words: number;
  wordErrors: number;
  characters: number;
  characterErrors: number;
}

export function emptyScore(): Score {
  return { utterances: 0, words: 0, wordErrors: 0, characters: 0, characterErrors: 0 };
}

/** Weighted by length, as is usual for word error rates. */
export function addTo(score: Score, input: { spoken: string; recognised: string }): void {
  const spoken = words(input.spoken);
  const recognised = words(input.recognised);
  const spokenText = Array.from(spoken.join(' '));
  score.utterances += 1;
  score.words += spoken.length;
  score.wordErrors += distance(spoken, recognised);
  score.characters += spokenText.length;
  score.characterErrors += distance(spokenText, Array.from(recognised.join(' ')));
}

export function wordErrorRate(score: Score): number {
  return percent(score.wordErrors, score.words);
}

export function characterErrorRate(score: Score): number {
  return percent(score.characterErrors, score.characters);
}

function percent(errors: number, total: number): number {
  return total === 0 ? 0 : Math.round((1000 * errors) / total) / 10;
}
