import { isSession } from '../answers.ts';
import { errorFromAnswer, SvcError } from '../errors.ts';
import type { GetSession } from './options.ts';

/** A `getSession` that asks your own server: POST, answered with the session's JSON or the API's error as it is. */
export function fetchSession(url: string | URL, init: RequestInit = {}): GetSession {
  return async ({ signal }) => {
    const response = await fetch(url, { method: 'POST', ...init, signal }).catch(
      (cause: unknown) => {
        throw new SvcError({
          code: signal.aborted ? 'aborted' : 'connection_failed',
          message: 'Your session server cannot be reached.',
          retryable: !signal.aborted,
          cause,
        });
      },
    );
    const body: unknown = await response.json().catch(() => null);
    if (response.ok && isSession(body)) return body;
    if (response.ok) {
      throw new SvcError({
        code: 'unexpected_answer',
        message: 'Your session server did not answer with a session.',
        retryable: false,
        status: response.status,
      });
    }
    throw errorFromAnswer({
      status: response.status,
      body,
      requestId: response.headers.get('x-request-id'),
      retryAfter: response.headers.get('retry-after'),
    });
  };
}
