import { isSession } from '../response-guards.ts';
import { errorFromResponse, SvcError } from '../errors.ts';
import type { GetSession } from './options.ts';

/** Returns a `getSession` that POSTs to your server, which answers with the session's or the API error's JSON. */
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
    throw errorFromResponse({
      status: response.status,
      body,
      requestId: response.headers.get('x-request-id'),
      retryAfter: response.headers.get('retry-after'),
    });
  };
}
