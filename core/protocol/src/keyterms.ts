/** The limits of `config.keyterms`. */
export const KEYTERMS = { termsMax: 100, lettersMax: 1_000 } as const;

export const KEYTERM_REFUSALS = [
  'not_supported',
  'not_text',
  'empty',
  'unsupported_characters',
  'duplicate',
  'too_long',
  'too_many',
] as const;
export type KeytermRefusal = (typeof KEYTERM_REFUSALS)[number];

/** Which terms of a list are used, as the models write them, and why the others are not. */
export interface ReadKeyterms {
  readonly taken: readonly string[];
  readonly refused: readonly { readonly index: number; readonly reason: KeytermRefusal }[];
}

const APOSTROPHES = /[’‘ʼʻ`´′ꞌ]/gu;
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  ī: 'ĩ',
  î: 'ĩ',
  ῖ: 'ĩ',
  ĭ: 'ĩ',
  ū: 'ũ',
  û: 'ũ',
  ῦ: 'ũ',
  ŭ: 'ũ',
};
/** No letter of any language has so many. Putting them in order would take quadratic time. */
const MARKS = /\p{M}{9}/u;
/** The letters of both languages, and the apostrophe of ng'. */
const ALPHABET = /^[a-zĩũ' ]*$/u;

/** Reads `config.keyterms`. Looks at the first hundred only: one refusal stands for all that follow them. */
export function readKeyterms(list: readonly unknown[], isSupported: boolean): ReadKeyterms {
  const taken: string[] = [];
  const refused: { index: number; reason: KeytermRefusal }[] = [];
  let letters = 0;
  for (const [index, value] of list.slice(0, KEYTERMS.termsMax).entries()) {
    const term = isSupported && typeof value === 'string' ? foldKeyterm(value) : '';
    const reason = isSupported
      ? refusalOf(value, { term, taken, room: KEYTERMS.lettersMax - letters })
      : 'not_supported';
    if (reason !== null) refused.push({ index, reason });
    else {
      taken.push(term);
      letters += term.length;
    }
  }
  if (list.length > KEYTERMS.termsMax) {
    refused.push({ index: KEYTERMS.termsMax, reason: isSupported ? 'too_many' : 'not_supported' });
  }
  return { taken, refused };
}

/** The spelling that the models write: lower case, ĩ and ũ, an apostrophe only in ng', single spaces. */
export function foldKeyterm(text: string): string {
  const start = text.slice(0, 2 * KEYTERMS.lettersMax);
  if (MARKS.test(start)) return start;
  return start
    .replaceAll(/([iu])~/giu, '$1\u0303')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[īîῖĭūûῦŭ]/gu, (letter) => LOOK_ALIKES[letter] ?? letter)
    .replaceAll(APOSTROPHES, "'")
    .replaceAll(/-|(?<!ng)'/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

function refusalOf(
  value: unknown,
  input: { readonly term: string; readonly taken: readonly string[]; readonly room: number },
): KeytermRefusal | null {
  const { term, taken, room } = input;
  if (typeof value !== 'string') return 'not_text';
  if (term === '') return 'empty';
  if (!ALPHABET.test(term)) return 'unsupported_characters';
  if (taken.includes(term)) return 'duplicate';
  return term.length > room ? 'too_long' : null;
}
