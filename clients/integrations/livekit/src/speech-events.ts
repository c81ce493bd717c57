import {
  APIConnectionError,
  APIStatusError,
  createTimedString,
  normalizeLanguage,
  type APIError,
  type stt,
} from '@livekit/agents';
import { SvcError } from '@svc-asr/sdk';
import type { CloseInfo, Word } from '@svc-asr/sdk/stream';
import type { Language } from './language.ts';

/** For interim text, and for models without confidence: LiveKit's plugins use 1 then. */
const CONFIDENCE = 1;

export interface Utterance {
  readonly text: string;
  readonly text_formatted?: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly words: readonly Word[];
  readonly confidence?: number;
}

/** The text with numbers as digits, if they were asked for. */
export function shownText({
  text,
  text_formatted = text,
}: Pick<Utterance, 'text' | 'text_formatted'>): string {
  return text_formatted;
}

/**
 * An utterance as LiveKit describes it: seconds, counted from the start of the agent's stream. It starts and ends with
 * its words; the service counts the silence around them as part of it.
 */
export function speechData(
  utterance: Utterance,
  language: Language,
  offset: number,
): stt.SpeechData {
  const startMs = utterance.words[0]?.start_ms ?? utterance.start_ms;
  const endMs = utterance.words.at(-1)?.end_ms ?? utterance.end_ms;
  return {
    language: normalizeLanguage(language),
    text: shownText(utterance),
    startTime: startMs / 1000 + offset,
    endTime: endMs / 1000 + offset,
    confidence: utterance.confidence ?? CONFIDENCE,
    words: utterance.words.map((word) =>
      createTimedString({
        text: word.text,
        startTime: word.start_ms / 1000 + offset,
        endTime: word.end_ms / 1000 + offset,
        startTimeOffset: offset,
        confidence: word.confidence ?? CONFIDENCE,
      }),
    ),
  };
}

/** LiveKit retries by `retryable`. The stream has already retried for as long as it is useful. */
export function toApiError(error: unknown): APIError {
  const known =
    error instanceof SvcError
      ? error
      : new SvcError({ code: 'unknown', message: String(error), retryable: false });
  const { message, code, retryable, status, requestId } = known;
  if (status === null) {
    return new APIConnectionError({ message: `${message} (${code})`, options: { retryable } });
  }
  return new APIStatusError({
    message: `${message} (${code})`,
    options: { statusCode: status, retryable, ...(requestId === null ? {} : { requestId }) },
  });
}

/** The error of a session that ended although the stream goes on. */
export function lostSession({ reason, message, code, requestId, sessionId }: CloseInfo): SvcError {
  const details = { code: reason, message, closeCode: code, requestId, sessionId };
  return new SvcError({ ...details, retryable: true });
}

export function noAnswer(): SvcError {
  return new SvcError({
    code: 'connecting',
    message: 'The service has not accepted a stream yet. The plugin keeps trying.',
    retryable: true,
  });
}
