/** The words that a number replaces. */
interface Replaced {
  readonly first_word: number;
  readonly end_word: number;
}

/** The words of a final for display: a number stands in place of its words. */
export function shownWords<Said, Digits extends Replaced>(final: {
  readonly words: readonly Said[];
  readonly entities?: readonly Digits[] | undefined;
}): (Said | Digits)[] {
  const { words, entities = [] } = final;
  const shown: (Said | Digits)[] = [];
  let at = 0;
  for (const entity of entities) {
    shown.push(...words.slice(at, entity.first_word), entity);
    at = entity.end_word;
  }
  return [...shown, ...words.slice(at)];
}
