import { SvcError } from '../errors.ts';
import { userMessageFor } from '../user-messages.ts';
import type { CloseInfo } from './close-info.ts';

/** Converts between stream errors and close information. */

export function failure(code: string, message: string, retryable = false): SvcError {
  return new SvcError({ code, message, retryable });
}

export function toSvcError(cause: unknown): SvcError {
  if (cause instanceof SvcError) return cause;
  return new SvcError({
    code: 'get_session_failed',
    message: 'getSession failed. See `cause` for its error.',
    retryable: false,
    cause,
  });
}

export function fromClose(close: CloseInfo): SvcError {
  return new SvcError({
    code: close.reason,
    message: close.message,
    retryable: close.retryable,
    retryAfterMs: close.retryAfterMs,
    sessionId: close.sessionId,
    requestId: close.requestId,
    closeCode: close.code,
  });
}

export const NEVER_OPENED: CloseInfo = {
  code: 1006,
  reason: 'never_opened',
  message: 'The stream ended before it had a session.',
  userMessage: 'The transcription has ended.',
  retryable: false,
  retryAfterMs: null,
  sessionId: null,
  requestId: null,
};

/** The service has stopped answering. The session is not over yet. */
export function stalled(sessionId: string): CloseInfo {
  const reason = 'connection_stalled';
  return {
    ...NEVER_OPENED,
    reason,
    message: 'The service does not answer.',
    userMessage: userMessageFor({ code: reason, retryable: true }),
    retryable: true,
    sessionId,
  };
}

export function completed(close: CloseInfo): CloseInfo {
  const reason = close.reason === 'max_audio_reached' ? close.reason : 'completed';
  return {
    ...close,
    code: 1000,
    reason,
    message: 'The stream is complete.',
    userMessage: 'The transcription has ended.',
    retryable: false,
    retryAfterMs: null,
  };
}

export function endedBy(error: SvcError, close: CloseInfo): CloseInfo {
  return {
    code: error.closeCode ?? close.code,
    reason: error.code,
    message: error.message,
    userMessage: error.userMessage,
    retryable: error.retryable,
    retryAfterMs: error.retryAfterMs,
    sessionId: error.sessionId ?? close.sessionId,
    requestId: error.requestId ?? close.requestId,
  };
}

/** Keeps an unawaited promise from crashing the process. Awaiting it still rejects. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
