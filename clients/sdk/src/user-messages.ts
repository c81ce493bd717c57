/**
 * Texts for the people who use a page. The `message` of an error is for developers. Pages in other languages choose
 * their own text by `code`. The microphone's texts are in microphone-errors.ts, so that a stream doesn't carry them.
 */

/** The codes that start with `connection_`, `timeout` and `finish_timeout`. */
const OFFLINE = /^connection_|timeout$/;

/** Returns what to tell the user: what happened and what they can do about it, without technical details. */
export function userMessageFor(error: {
  readonly code: string;
  readonly retryable: boolean;
}): string {
  if (error.code === 'concurrency_limit_exceeded') {
    return 'Another transcription is still running. Please wait a moment.';
  }
  if (OFFLINE.test(error.code)) {
    return 'No connection to the transcription service. Please check your internet connection.';
  }
  return error.retryable
    ? 'The transcription service is busy. Please wait a moment.'
    : 'Transcription is not available at the moment. Please try again later.';
}
