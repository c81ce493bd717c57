import { cues, toSrt, toVtt } from '@svc-asr/protocol/captions.ts';
import type { Language } from '@svc-asr/protocol/languages.ts';
import type { FileTranscript } from '../transcribe.ts';
import type { TranscriptionParameters } from './transcription-parameters.ts';

/** OpenAI answers with the name of a language, not with its code. */
const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { ki: 'kikuyu', luo: 'dholuo' };
const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

/** Writes a transcript as OpenAI would. Its libraries throw if text, SRT and VTT have a JSON type. */
export function writeTranscript(
  transcript: FileTranscript,
  parameters: TranscriptionParameters,
): { readonly type: string; readonly body: string } {
  const { text, finals } = transcript;
  switch (parameters.format) {
    case 'json':
      return { type: JSON_TYPE, body: JSON.stringify({ text, ...usage(transcript) }) };
    case 'verbose_json':
      return { type: JSON_TYPE, body: JSON.stringify(verbose(transcript, parameters)) };
    case 'text':
      return { type: TEXT_TYPE, body: `${text}\n` };
    case 'srt':
      return { type: TEXT_TYPE, body: toSrt(cues(finals)) };
    case 'vtt':
      return { type: 'text/vtt; charset=utf-8', body: toVtt(cues(finals)) };
  }
}

/** The seconds that were charged, in OpenAI's form. Left out if only the service knows them. */
export function usage({ billedMs }: FileTranscript): object {
  if (billedMs === null) return {};
  return { usage: { type: 'duration', seconds: Math.ceil(billedMs / 1000) } };
}

function verbose(transcript: FileTranscript, parameters: TranscriptionParameters): object {
  const { text, durationMs } = transcript;
  return {
    task: 'transcribe',
    language: LANGUAGE_NAMES[parameters.choice.language],
    duration: durationMs / 1000,
    text,
    ...(parameters.withSegments ? { segments: transcript.finals.map(segment) } : {}),
    ...(parameters.withWords ? { words: transcript.words.map(word) } : {}),
    ...usage(transcript),
  };
}

/**
 * One turn. The fields after the text describe Whisper's decoder. Programs compute with some of them, so they are there,
 * but only `avg_logprob` says something: the logarithm of our confidence.
 */
function segment(final: FileTranscript['finals'][number], id: number): object {
  return {
    id,
    start: (final.words[0]?.start_ms ?? final.start_ms) / 1000,
    end: (final.words.at(-1)?.end_ms ?? final.end_ms) / 1000,
    text: final.text,
    seek: 0,
    tokens: [],
    temperature: 0,
    avg_logprob: Math.log(Math.max(final.confidence ?? 1, 1e-6)),
    compression_ratio: 1,
    no_speech_prob: 0,
  };
}

function word({ text, start_ms, end_ms }: FileTranscript['words'][number]): object {
  return { word: text, start: start_ms / 1000, end: end_ms / 1000 };
}
