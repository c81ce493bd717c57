import type { FinalEvent, Transcript, Word } from '@svc-asr/sdk/stream';

export const FORMATS = ['text', 'json', 'srt', 'vtt'] as const;
export type Format = (typeof FORMATS)[number];

export const ENDINGS: Readonly<Record<Format, string>> = {
  text: '.txt',
  json: '.json',
  srt: '.srt',
  vtt: '.vtt',
};

/** As broadcasters do: two lines of 42 letters, six seconds at most, a new cue after a pause. */
const CUE_LETTERS_MAX = 84;
const LINE_LETTERS_MAX = 42;
const CUE_MS_MAX = 6_000;
const CUE_PAUSE_MS = 800;
const CUE_MS_MIN = 700;

export interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
}

export function render(format: Format, name: string, transcript: Transcript): string {
  switch (format) {
    case 'text':
      return transcript.finals
        .map((final) => final.text)
        .filter((line) => line !== '')
        .join('\n');
    case 'json':
      return JSON.stringify({ file: name, ...transcript });
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

/** A cue never goes over the end of an utterance, and its words are all there, once and in order. */
export function cues(finals: readonly FinalEvent[]): Cue[] {
  const groups = finals.flatMap((final) => groupWords(final.words));
  return groups.map((words, at) => {
    const startMs = words[0]?.start_ms ?? 0;
    const spokenMs = words.at(-1)?.end_ms ?? startMs;
    // Long enough to be read, but never into the next one.
    const next = groups[at + 1]?.[0]?.start_ms ?? Infinity;
    const endMs = Math.max(spokenMs, Math.min(startMs + CUE_MS_MIN, next));
    return { startMs, endMs, text: words.map((word) => word.text).join(' ') };
  });
}

function groupWords(words: readonly Word[]): Word[][] {
  const groups: Word[][] = [];
  for (const word of words) {
    const group = groups.at(-1);
    if (group === undefined || !belongs(group, word)) groups.push([word]);
    else group.push(word);
  }
  return groups;
}

function belongs(group: readonly Word[], word: Word): boolean {
  const first = group[0] ?? word;
  const last = group.at(-1) ?? word;
  const letters = group.reduce((sum, each) => sum + each.text.length + 1, word.text.length);
  return (
    letters <= CUE_LETTERS_MAX &&
    word.end_ms - first.start_ms <= CUE_MS_MAX &&
    word.start_ms - last.end_ms < CUE_PAUSE_MS
  );
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

/** Two lines, as equal as the words allow. */
function wrap(text: string): string {
  if (text.length <= LINE_LETTERS_MAX) return text;
  const spaces = [...text.matchAll(/ /g)].map(({ index }) => index);
  const middle = text.length / 2;
  const [best] = spaces.toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  return best === undefined ? text : `${text.slice(0, best)}\n${text.slice(best + 1)}`;
}
