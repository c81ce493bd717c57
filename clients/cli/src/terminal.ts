import type { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';

export type Output = NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** Writes results to standard output and progress and messages to standard error, so that pipes get only results. */
export class Terminal {
  readonly #out: Output;
  readonly #err: Output;
  /** Whether lines can be redrawn in place. */
  readonly #isLive: boolean;
  readonly #isStyled: boolean;
  #liveLines = 0;

  constructor(out: Output, err: Output, env: NodeJS.ProcessEnv) {
    this.#out = out;
    this.#err = err;
    this.#isLive = err.isTTY === true && env['TERM'] !== 'dumb';
    this.#isStyled = this.#isLive && !env['NO_COLOR'];
  }

  get isOutTerminal(): boolean {
    return this.#out.isTTY === true;
  }

  get columns(): number {
    return this.#err.columns ?? 80;
  }

  print(text: string): void {
    this.clearLive();
    // Whether to style is decided by standard error. Files and pipes get plain text.
    this.#out.write(`${safe(this.isOutTerminal ? text : stripVTControlCharacters(text))}\n`);
  }

  json(value: unknown): void {
    this.print(jsonText(value, this.isOutTerminal ? 2 : 0));
  }

  note(text: string): void {
    this.clearLive();
    this.#err.write(`${safe(text)}\n`);
  }

  /** Writes to standard error as it is: a prompt, or the echo of typed text. */
  prompt(text: string | Buffer): void {
    this.#err.write(text);
  }

  style(style: Style, text: string): string {
    if (!this.#isStyled) return text;
    const [on, off] = CODES[style];
    return `\u001B[${on}m${text}\u001B[${off}m`;
  }

  /** Draws lines at the bottom that the next call replaces. Does nothing without a terminal. */
  live(lines: readonly string[]): void {
    if (!this.#isLive) return;
    this.clearLive();
    for (const line of lines) this.#err.write(`${safe(line)}\n`);
    this.#liveLines = lines.length;
  }

  clearLive(): void {
    if (this.#liveLines === 0) return;
    // Back to the first column too, because the terminal echoes Ctrl-C.
    this.#err.write(`\u001B[${this.#liveLines}F\u001B[0J`);
    this.#liveLines = 0;
  }
}

/** Characters that a terminal interprets or hides: controls, line separators, and invisible format characters. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const REPLACEMENT = '\uFFFD';
const OWN_STYLES = new Set(
  Object.values(CODES)
    .flat()
    .map((code) => `\u001B[${code}m`),
);

/** Makes a file name or another text from outside safe to show: a terminal would interpret its control characters. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, REPLACEMENT);
}

/** The last guard, for every line: only line ends, tabs and this program's own styles pass. */
function safe(text: string): string {
  return text.replaceAll(UNSAFE, (character, at: number) => {
    const isStyle =
      OWN_STYLES.has(text.slice(at, at + 4)) || OWN_STYLES.has(text.slice(at, at + 5));
    return character === '\n' || character === '\t' || isStyle ? character : REPLACEMENT;
  });
}

/** JSON with escapes for all characters that a terminal would interpret. */
export function jsonText(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replaceAll(UNSAFE, (character) =>
    character === '\n' ? character : escaped(character),
  );
}

function escaped(character: string): string {
  return character.replaceAll(
    /./gs,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Pads or cuts a text to a width. A cut text ends with an ellipsis. */
export function fit(text: string, width: number): string {
  const letters = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  if (letters.length <= width) return text.padEnd(text.length + width - letters.length);
  return `${letters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** Returns the end of a text, cut to a width. */
export function tail(text: string, width: number): string {
  const letters = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  return letters.length <= width ? text : `…${letters.slice(1 - width).join('')}`;
}

export function bar(share: number, width: number): string {
  const filled = Math.round(Math.max(0, Math.min(1, share)) * width);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

/** Formats 83,500 ms as 1:23, and longer times as 2:05:09. */
export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const rest = String(seconds % 60).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest}`;
}
