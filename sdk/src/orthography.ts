/** Gĩkũyũ writes ĩ and ũ, which many keyboards lack: people search without them for text that has them. */

const TILDE = '\u0303';
/** Letters and digits with their marks; an apostrophe or hyphen inside a word belongs to it (ng'ombe). */
const WORD = /[\p{L}\p{M}\p{N}]+(?:['\u2019\u02BC-][\p{L}\p{M}\p{N}]+)*['\u2019\u02BC]?/gu;
const APOSTROPHES = /[\u2019\u02BC\u2018`]/g;

/** One spelling for what looks the same: composed letters, one kind of apostrophe, single spaces. */
export function normalizeText(text: string): string {
  return text.normalize('NFC').replace(APOSTROPHES, "'").replace(/\s+/gu, ' ').trim();
}

/** For search: ĩ as i, ũ as u, lower case. Both sides of a comparison must be folded. */
export function foldForSearch(text: string): string {
  return normalizeText(text).normalize('NFD').replaceAll(TILDE, '').normalize('NFC').toLowerCase();
}

/** The words of a text, as they are written. */
export function tokenize(text: string): string[] {
  return [...normalizeText(text).matchAll(WORD)].map(([word]) => word);
}

/** Whether the words of `query` stand in `text` one after the other, tildes and capitals aside. */
export function includesFolded(text: string, query: string): boolean {
  const words = tokenize(foldForSearch(text));
  const wanted = tokenize(foldForSearch(query));
  return words.some((_, at) => wanted.every((word, offset) => words[at + offset] === word));
}
