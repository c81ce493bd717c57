/** Kikuyu has the letters ĩ and ũ, which many keyboards lack, so people type i and u when they search. */

const TILDE = '\u0303';
/** Letters and digits with combining marks. An apostrophe or hyphen inside a word is part of it (ng'ombe). */
const WORD = /[\p{L}\p{M}\p{N}]+(?:['\u2019\u02BC-][\p{L}\p{M}\p{N}]+)*['\u2019\u02BC]?/gu;
const APOSTROPHES = /[\u2019\u02BC\u2018`]/g;

/** Normalises text that looks the same: composed letters, one kind of apostrophe, single spaces. */
export function normalizeText(text: string): string {
  return text.normalize('NFC').replace(APOSTROPHES, "'").replace(/\s+/gu, ' ').trim();
}

/** Folds text for search: ĩ to i, ũ to u, lower case. Fold both sides of a comparison. */
export function foldForSearch(text: string): string {
  return normalizeText(text).normalize('NFD').replaceAll(TILDE, '').normalize('NFC').toLowerCase();
}

/** Returns the words of a text, with their spelling unchanged. */
export function tokenize(text: string): string[] {
  return [...normalizeText(text).matchAll(WORD)].map(([word]) => word);
}

/** Whether `text` contains the words of `query` in sequence, ignoring tildes and case. */
export function includesFolded(text: string, query: string): boolean {
  const words = tokenize(foldForSearch(text));
  const wanted = tokenize(foldForSearch(query));
  return words.some((_, at) => wanted.every((word, offset) => words[at + offset] === word));
}
