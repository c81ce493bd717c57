import { Problem } from './problem.ts';

/** Letters of Kikuyu and Dholuo as both are written: a to z, ĩ, ũ, the apostrophe of ng', and the space. */
const WRITTEN = /^(?:[a-z ĩũ▁]|['’])$/u;
const SPECIAL = /^<[^<>]+>$/;

/** Converts a list of labels, as pyctcdecode takes it, to the lines of tokens.txt. Label 0 is the blank. */
export function tokensOfLabels(json: string): string {
  const labels: unknown = JSON.parse(json);
  if (!Array.isArray(labels) || !labels.every((label) => typeof label === 'string')) {
    throw new Problem('labels.json must be a list of texts.');
  }
  const lines = labels.map((label: string, at) => {
    if (at === 0) return '<blk> 0';
    return label === '' || /\p{Cc}/u.test(label) ? `<unused> ${at}` : `${label} ${at}`;
  });
  return `${lines.join('\n')}\n`;
}

/**
 * Converts the vocabulary of a wav2vec2 tokenizer, from letters to their numbers, to the lines of tokens.txt. The padding is
 * the blank, and `|` is the space.
 */
export function tokensOfVocabulary(json: string): string {
  const vocabulary: unknown = JSON.parse(json);
  const entries = Object.entries(vocabulary ?? {});
  const lines: string[] = [];
  for (const [token, at] of entries) {
    if (!Number.isInteger(at) || at < 0 || at >= entries.length) {
      throw new Problem(
        'vocab.json must map each token to its number. One for each language does not.',
      );
    }
    const isBlank = token === '<pad>' || token === '[PAD]';
    const isSpecial = /^(?:<.*>|\[.*\])$/u.test(token) || /\p{Cc}/u.test(token);
    const text = isBlank ? '<blk>' : isSpecial ? '<unused>' : token.replace(/^\|$/, ' ');
    lines[at] = `${text} ${at}`;
  }
  if (!lines.some((line) => line.startsWith('<blk> '))) {
    throw new Problem('vocab.json has neither <pad> nor [PAD], which would be the blank.');
  }
  return `${Array.from(lines, (line, at) => line ?? `<unused> ${at}`).join('\n')}\n`;
}

/**
 * Prunes the labels of a model for 1,600 languages to one orthography: others are renamed `<unused>`, which the engine
 * never chooses. Exact, because greedy CTC takes the best of the labels that are left.
 */
export function pruneTokens(text: string): { text: string; kept: number; of: number } {
  const lines = text.replace(/\n$/, '').split('\n');
  let kept = 0;
  const pruned = lines.map((line, at) => {
    const token = line === String(at) ? ' ' : line.slice(0, line.length - ` ${at}`.length);
    if (SPECIAL.test(token)) return line;
    if (token !== '' && !WRITTEN.test(token)) return `<unused> ${at}`;
    kept += 1;
    return line;
  });
  return { text: `${pruned.join('\n')}\n`, kept, of: lines.length };
}
