export interface ExcerptPart {
  readonly text: string;
  readonly isMatch: boolean;
}

const LENGTH = 140;
const BEFORE = 40;

/** Cuts a text around its first match and marks the matching words. */
export function excerpt(text: string, terms: readonly string[]): ExcerptPart[] {
  const words = terms.map((term) => term.replaceAll(/[^\p{L}\p{M}\p{N}_]/gu, '')).filter(Boolean);
  if (words.length === 0) return [{ text: text.slice(0, LENGTH), isMatch: false }];
  const pattern = new RegExp(`(${words.join('|')})`, 'giu');
  const first = text.search(pattern);
  const from = first <= BEFORE ? 0 : text.indexOf(' ', first - BEFORE) + 1;
  const cut = text.slice(from, from + LENGTH);
  return `${from === 0 ? '' : '… '}${cut}${from + LENGTH < text.length ? ' …' : ''}`
    .split(pattern)
    .map((part, at) => ({ text: part, isMatch: at % 2 === 1 }))
    .filter(({ text: part }) => part !== '');
}
