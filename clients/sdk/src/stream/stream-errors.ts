import { SvcError } from '../errors.ts';
import { closeInfo, COMPLETE, type CloseInfo } from './close-info.ts';

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
  return new SvcError({ ...close, code: close.reason, closeCode: close.code });
}

/** The service has stopped answering. The session is not over yet. */
export function stalled(sessionId: string): CloseInfo {
  const message = 'The service does not answer.';
  return closeInfo({ code: 'connection_stalled', message, retryable: true, sessionId });
}

/** `error` is null for a stream that ended as it should, `close` for one that never had a session. */
export function streamEnd(error: SvcError | null, close: CloseInfo | null): CloseInfo {
  const completed = {
    code: close?.reason === 'max_audio_reached' ? close.reason : 'completed',
    closeCode: 1000,
    message: COMPLETE,
    userMessage: 'The transcription has ended.',
    retryable: false,
  };
  return closeInfo(error ?? completed, close);
}

/** Awaiting it rejects. Nothing happens to callers that don't await it. */
export function rejected(reason: SvcError): Promise<never> {
  return ignoreRejection(Promise.reject(reason));
}

/** Keeps an unawaited promise from crashing the process. Awaiting it still rejects. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
