/** The words of a reference text, and how many of a transcript are wrong, missing or extra. */
export interface WordErrors {
  readonly words: number;
  readonly errors: number;
}

/** Counts substituted, missing and extra words after both texts were normalised. */
export function countWordErrors(reference: string, transcript: string): WordErrors {
  const spoken = words(normalise(reference));
  return { words: spoken.length, errors: distance(spoken, words(normalise(transcript))) };
}

export function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Returns the edit distance between two sequences. */
export function distance(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, x] of a.entries()) {
    const next = [i + 1];
    for (const [j, y] of b.entries()) {
      const substituted = (row[j] ?? 0) + (x === y ? 0 : 1);
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, substituted));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

const LOOK_ALIKES: Readonly<Record<string, string>> = {
  ī: 'ĩ',
  î: 'ĩ',
  ĭ: 'ĩ',
  ū: 'ũ',
  û: 'ũ',
  ŭ: 'ũ',
};

/** Normalises text to the models' output: letters, single spaces, and an apostrophe only in ng'. */
export function normalise(text: string): string {
  const folded = text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[’‘ʼʻ`´′ꞌ]/g, "'")
    .replaceAll(/[īîĭūûŭ]/g, (letter) => LOOK_ALIKES[letter] ?? letter)
    .replaceAll('-', '')
    // Without a lookbehind, which older Safari can't parse.
    .replaceAll(/(ng)?'/g, (found, ng?: string) => (ng === undefined ? '' : found));
  return words(folded.replaceAll(/[^a-zĩũ']/g, ' ')).join(' ');
}

/** Removes tildes, because Kikuyu is often typed without them. */
export function withoutTilde(text: string): string {
  return text.replaceAll('ĩ', 'i').replaceAll('ũ', 'u');
}
