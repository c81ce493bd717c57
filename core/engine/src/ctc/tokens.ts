/** The labels of a CTC model, by id. */
export interface CtcTokens {
  readonly blank: number;
  /** The text of each label. Empty for the blank and other special labels. */
  readonly texts: readonly string[];
  /** Labels that may appear in a transcript. Columns of other scripts and special labels are pruned. */
  readonly usable: readonly number[];
}

const BLANKS = new Set(['<blk>', '<blank>', '<eps>']);
/** Special tokens such as `<s>` and `<unk>`. */
const SPECIAL = /^<[^<>]+>$/;

/**
 * Parses tokens.txt of a published CTC export: a token, a space and its number on each line. The token
 * may be the space itself, or ▁ for it. The blank is `<blk>`, or else label 0. Returns an error message
 * if the list is invalid.
 */
export function parseCtcTokens(text: string): CtcTokens | string {
  const lines = text.replace(/\n$/, '').split('\n');
  const tokens: string[] = [];
  for (const [at, line] of lines.entries()) {
    const suffix = ` ${at}`;
    const trimmed = line.replace(/\r$/, '');
    // If the writer dropped the space token, the line contains only its number.
    if (trimmed === String(at)) tokens.push(' ');
    else if (trimmed.endsWith(suffix)) tokens.push(trimmed.slice(0, -suffix.length));
    else return `files.tokens: line ${at + 1} must be a token, a space and ${at}`;
  }
  const named = tokens.findIndex((token) => BLANKS.has(token));
  const blank = Math.max(0, named);
  const texts = tokens.map((token, at) => (at === blank ? '' : textOf(token)));
  const usable = texts.flatMap((label, at) => (label !== '' || at === blank ? [at] : []));
  return { blank, texts, usable };
}

function textOf(token: string): string {
  if (SPECIAL.test(token)) return '';
  return token === '' ? ' ' : token.replaceAll('▁', ' ');
}
