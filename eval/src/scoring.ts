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
    .replaceAll(/(?<!ng)'/g, '');
  return words(folded.replaceAll(/[^a-zĩũ']/g, ' ')).join(' ');
}

/** Removes tildes, because Kikuyu is often typed without them. */
export function withoutTilde(text: string): string {
  return text.replaceAll('ĩ', 'i').replaceAll('ũ', 'u');
}
