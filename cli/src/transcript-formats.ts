import type { FinalEvent, Word } from '@svc-asr/sdk/stream';
import type { FileTranscript } from './file-transcript.ts';

export const FORMATS = ['text', 'json', 'srt', 'vtt'] as const;
export type Format = (typeof FORMATS)[number];

export const FILE_ENDINGS: Readonly<Record<Format, string>> = {
  text: '.txt',
  json: '.json',
  srt: '.srt',
  vtt: '.vtt',
};

/** Parses a list such as `txt,srt,json`. Returns null if a format is unknown. */
export function parseFormats(list: string): readonly Format[] | null {
  const formats = list.split(',').map((name) => FORMATS.find((format) => isNamed(format, name)));
  const known = formats.filter((format) => format !== undefined);
  return known.length === formats.length ? [...new Set(known)] : null;
}

/** A format is also known by its file ending. */
function isNamed(format: Format, name: string): boolean {
  const given = name.trim().toLowerCase();
  return given === format || `.${given}` === FILE_ENDINGS[format];
}

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

/** Renders a transcript for a file. `name` is the input file. */
export function render(format: Format, name: string, transcript: FileTranscript): string {
  switch (format) {
    case 'text':
      return transcript.turns.map(({ text }) => text).join('\n');
    case 'json':
      return JSON.stringify({ file: name, status: 'done', ...jsonFields(transcript) });
    case 'srt':
      return cues(transcript.finals)
        .map((cue, at) => `${at + 1}\n${span(cue, ',')}\n${wrap(cue.text)}\n`)
        .join('\n');
    case 'vtt':
      return [
        'WEBVTT\n',
        ...cues(transcript.finals).map((cue) => `${span(cue, '.')}\n${wrap(cue.text)}\n`),
      ].join('\n');
  }
}

/** The fields of a transcript in JSON output, all in snake_case like the API. */
export function jsonFields(transcript: FileTranscript): Record<string, unknown> {
  return {
    text: transcript.text,
    audio_ms: transcript.audioMs,
    charged_ms: transcript.chargedMs,
    finals: transcript.turns.map(({ text, start_ms, end_ms, confidence }) => ({
      text,
      start_ms,
      end_ms,
      confidence,
    })),
    words: transcript.words,
    sessions: transcript.sessions.map(({ sessionId, chargedMs }) => ({
      session_id: sessionId,
      charged_ms: chargedMs,
    })),
  };
}

/**
 * Makes one cue of each turn, and several of a turn that is too long for one. A cue never spans two turns, and every
 * word appears once, in order.
 */
export function cues(finals: readonly FinalEvent[]): Cue[] {
  const groups = finals.flatMap((final) => splitTurn(final.words));
  return groups.map((words, at) => {
    const startMs = words[0]?.start_ms ?? 0;
    const spokenMs = words.at(-1)?.end_ms ?? startMs;
    // Long enough to read, but never into the next cue.
    const next = groups[at + 1]?.[0]?.start_ms ?? Infinity;
    const endMs = Math.max(spokenMs, Math.min(startMs + CUE_MS_MIN, next));
    return { startMs, endMs, text: words.map((word) => word.text).join(' ') };
  });
}

function splitTurn(words: readonly Word[]): (readonly Word[])[] {
  if (words.length === 0) return [];
  const at = fitsCue(words) ? null : splitPoint(words);
  return at === null ? [words] : [...splitTurn(words.slice(0, at)), ...splitTurn(words.slice(at))];
}

function fitsCue(words: readonly Word[]): boolean {
  const letters = lettersIn(words);
  const ms = (words.at(-1)?.end_ms ?? 0) - (words[0]?.start_ms ?? 0);
  const pauses = words.map((_, at) => pauseBefore(words, at));
  return letters <= CUE_LETTERS_MAX && ms <= CUE_MS_MAX && Math.max(...pauses) < CUE_PAUSE_MS;
}

/** The longest pause that leaves both parts a quarter of the letters, so that no word is left alone. */
function splitPoint(words: readonly Word[]): number | null {
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

function pauseBefore(words: readonly Word[], at: number): number {
  const before = words[at - 1]?.end_ms;
  return before === undefined ? 0 : (words[at]?.start_ms ?? before) - before;
}

function lettersIn(words: readonly Word[]): number {
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
