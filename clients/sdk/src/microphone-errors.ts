import { SvcError } from './errors.ts';

/** For each error the message for developers and the text for users. */
const MICROPHONE_ERRORS = {
  insecure_page: [
    'Browsers allow the microphone only on HTTPS or localhost.',
    'The microphone works only on a secure page (https).',
  ],
  microphone_denied: [
    'Permission to use the microphone was denied. Allow it in the browser, then retry.',
    'Please allow the microphone in your browser, then try again.',
  ],
  microphone_missing: [
    'No microphone found. Connect one, then retry.',
    'No microphone was found. Please connect one, then try again.',
  ],
  microphone_busy: [
    'Another program is using the microphone. Close it, then retry.',
    'Another program is using the microphone. Please close it, then try again.',
  ],
  audio_not_started: [
    'The browser did not start its audio. Open the microphone from a click handler, check that the device has a ' +
      'sound output, and try again.',
    'The microphone did not start. Please try again.',
  ],
  microphone_failed: [
    'The microphone could not be opened.',
    'The microphone could not be opened. Please try another one.',
  ],
  stream_closed: [
    'The stream ended before the microphone opened. Its `closed` promise has the reason.',
    'The transcription has ended.',
  ],
} as const;

const REFUSALS: Readonly<Record<string, keyof typeof MICROPHONE_ERRORS>> = {
  NotAllowedError: 'microphone_denied',
  NotFoundError: 'microphone_missing',
  OverconstrainedError: 'microphone_missing',
  NotReadableError: 'microphone_busy',
};

/** Describes why the browser refused the microphone. */
export function toMicrophoneError(cause: unknown): SvcError {
  const name = cause instanceof DOMException ? cause.name : '';
  return microphoneError(REFUSALS[name] ?? 'microphone_failed', cause);
}

export function microphoneError(code: keyof typeof MICROPHONE_ERRORS, cause?: unknown): SvcError {
  const [message, userMessage] = MICROPHONE_ERRORS[code];
  return new SvcError({ code, message, userMessage, retryable: false, cause });
}
