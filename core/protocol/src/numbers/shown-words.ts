import type { NumberEntity, Word } from '../events.ts';

/** The words of a final for display: a number stands in place of its words. */
export function shownWords<Said extends Omit<Word, 'confidence'>>(final: {
  readonly words: readonly Said[];
  readonly entities?: readonly NumberEntity[] | undefined;
}): (Said | NumberEntity)[] {
  const { words, entities = [] } = final;
  const shown: (Said | NumberEntity)[] = [];
  let at = 0;
  for (const entity of entities) {
    shown.push(...words.slice(at, entity.first_word), entity);
    at = entity.end_word;
  }
  return [...shown, ...words.slice(at)];
}
