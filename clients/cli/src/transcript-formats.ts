import { cues, toSrt, toVtt, toVttCue, VTT_HEAD } from '@svc-asr/protocol/captions.ts';
import type { FinalEvent } from '@svc-asr/sdk/stream';
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

/** Renders a transcript for people. */
export function render(format: Exclude<Format, 'json'>, transcript: FileTranscript): string {
  switch (format) {
    case 'text':
      return transcript.turns.map(shownText).join('\n');
    case 'srt':
      return toSrt(cues(transcript.finals));
    case 'vtt':
      return toVtt(cues(transcript.finals));
  }
}

/** Formats that can be written while somebody speaks. */
export const LIVE_FORMATS = ['text', 'srt', 'vtt'] as const;
export type LiveFormat = (typeof LIVE_FORMATS)[number];

/** Renders finals one by one as they arrive. Each result is one line or one cue; an empty final gives none. */
export function liveRenderer(format: LiveFormat): {
  readonly head: string | null;
  render(final: FinalEvent): string[];
} {
  let count = 0;
  return {
    head: format === 'vtt' ? VTT_HEAD : null,
    render(final) {
      if (final.text === '') return [];
      if (format === 'text') return [shownText(final)];
      return cues([final]).map((cue) => {
        count += 1;
        return format === 'srt' ? toSrt([cue], count) : toVttCue(cue);
      });
    },
  };
}

/** The text with numbers as digits, if they were asked for. */
export function shownText({ text, text_formatted = text }: FinalEvent): string {
  return text_formatted;
}

function textFormatted({ turns }: FileTranscript): { text_formatted?: string } {
  const has = turns.some(({ text_formatted }) => text_formatted !== undefined);
  return has ? { text_formatted: turns.map(shownText).join(' ') } : {};
}

/** The fields of a transcript in JSON output, all in snake_case like the API. */
export function jsonFields(transcript: FileTranscript): Record<string, unknown> {
  return {
    text: transcript.text,
    ...textFormatted(transcript),
    audio_ms: transcript.audioMs,
    charged_ms: transcript.chargedMs,
    finals: transcript.turns.map(
      ({ text, start_ms, end_ms, confidence, text_formatted, entities }) => ({
        text,
        start_ms,
        end_ms,
        confidence,
        text_formatted,
        entities,
      }),
    ),
    words: transcript.words,
    sessions: transcript.sessions.map(({ sessionId, chargedMs }) => ({
      session_id: sessionId,
      charged_ms: chargedMs,
    })),
  };
}
