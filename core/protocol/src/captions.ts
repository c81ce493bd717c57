import type { NumberEntity, Word } from './events.ts';
import { shownWords } from './numbers/shown-words.ts';

/** A word of a transcript with its times. */
export type TimedWord = Pick<Word, 'text' | 'start_ms' | 'end_ms'>;

/** Broadcast rules: at most two lines of 42 letters and six seconds per cue. */
const CUE_LETTERS_MAX = 84;
const LINE_LETTERS_MAX = 42;
const CUE_MS_MAX = 6_000;
/** A turn that the service did not end at a pause, because its length was limited, is cut there. */
const CUE_PAUSE_MS = 800;
const CUE_MS_MIN = 700;

export interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
}

/**
 * Makes one cue of each turn, and several of a turn that is too long for one. A cue never spans two turns, and every
 * word appears once, in order. Numbers are digits where the finals have them.
 */
export function cues(
  finals: readonly {
    readonly words: readonly TimedWord[];
    readonly entities?: readonly NumberEntity[] | undefined;
  }[],
): Cue[] {
  const groups = finals.flatMap((final) => splitTurn(shownWords(final)));
  return groups.map((words, at) => {
    const startMs = words[0]?.start_ms ?? 0;
    const spokenMs = words.at(-1)?.end_ms ?? startMs;
    // Long enough to read, but never into the next cue.
    const next = groups[at + 1]?.[0]?.start_ms ?? Infinity;
    const endMs = Math.max(spokenMs, Math.min(startMs + CUE_MS_MIN, next));
    return { startMs, endMs, text: words.map((word) => word.text).join(' ') };
  });
}

/** Numbers the cues from `first` on. */
export function toSrt(lines: readonly Cue[], first = 1): string {
  return lines.map((cue, at) => `${first + at}\n${span(cue, ',')}\n${wrap(cue.text)}\n`).join('\n');
}

export const VTT_HEAD = 'WEBVTT\n';

export function toVtt(lines: readonly Cue[]): string {
  return [VTT_HEAD, ...lines.map(toVttCue)].join('\n');
}

export function toVttCue(cue: Cue): string {
  return `${span(cue, '.')}\n${wrap(cue.text)}\n`;
}

function splitTurn(words: readonly TimedWord[]): (readonly TimedWord[])[] {
  if (words.length === 0) return [];
  const at = fitsCue(words) ? null : splitPoint(words);
  return at === null ? [words] : [...splitTurn(words.slice(0, at)), ...splitTurn(words.slice(at))];
}

function fitsCue(words: readonly TimedWord[]): boolean {
  const letters = lettersIn(words);
  const ms = (words.at(-1)?.end_ms ?? 0) - (words[0]?.start_ms ?? 0);
  const pauses = words.map((_, at) => pauseBefore(words, at));
  return letters <= CUE_LETTERS_MAX && ms <= CUE_MS_MAX && Math.max(...pauses) < CUE_PAUSE_MS;
}

/** The longest pause that leaves both parts a quarter of the letters, so that no word is left alone. */
function splitPoint(words: readonly TimedWord[]): number | null {
  const letters = lettersIn(words);
  const places = words
    .map((_, at) => ({
      at,
      pauseMs: pauseBefore(words, at),
      share: lettersIn(words.slice(0, at)) / letters,
    }))
    .slice(1);
  const [best] = places.toSorted(
    (a, b) =>
      Number(b.pauseMs >= CUE_PAUSE_MS) - Number(a.pauseMs >= CUE_PAUSE_MS) ||
      Number(isCentral(b.share)) - Number(isCentral(a.share)) ||
      b.pauseMs - a.pauseMs ||
      Math.abs(a.share - 0.5) - Math.abs(b.share - 0.5),
  );
  return best?.at ?? null;
}

function isCentral(share: number): boolean {
  return share >= 0.25 && share <= 0.75;
}

function pauseBefore(words: readonly TimedWord[], at: number): number {
  const before = words[at - 1]?.end_ms;
  return before === undefined ? 0 : (words[at]?.start_ms ?? before) - before;
}

function lettersIn(words: readonly TimedWord[]): number {
  return words.reduce((sum, { text }) => sum + text.length + 1, -1);
}

function span(cue: Cue, point: string): string {
  return `${timestamp(cue.startMs, point)} --> ${timestamp(cue.endMs, point)}`;
}

function timestamp(ms: number, point: string): string {
  const time = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map((part) => pad(part, 2));
  return `${time.join(':')}${point}${pad(ms % 1000, 3)}`;
}

function pad(value: number, width: number): string {
  return String(Math.floor(value)).padStart(width, '0');
}

/** Breaks a text into two lines of similar length. */
function wrap(text: string): string {
  if (text.length <= LINE_LETTERS_MAX) return text;
  const spaces = [...text.matchAll(/ /g)].map(({ index }) => index);
  const middle = text.length / 2;
  const [best] = spaces.toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  return best === undefined ? text : `${text.slice(0, best)}\n${text.slice(best + 1)}`;
}
