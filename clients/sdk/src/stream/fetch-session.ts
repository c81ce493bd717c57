import { isSession } from '../response-guards.ts';
import { errorFromResponse, SvcError } from '../errors.ts';
import type { GetSession } from './options.ts';
import { forgetKey, nameSession, takeKey } from './unused-keys.ts';

/**
 * Returns a `getSession` that POSTs to your server, which answers with the session's or the API error's JSON. To a server
 * of the page's own origin it sends an `Idempotency-Key`. Pass it to `sessions.create()`: a page that could not open its
 * stream then gets the same session again, even after a reload, where it would be refused for a minute.
 */
export function fetchSession(url: string | URL, init: RequestInit = {}): GetSession {
  const getSession: GetSession = async (request) => {
    if (!mayAddHeaders(url)) return post(url, init, request.signal);
    const key = takeKey(String(url), request);
    try {
      const session = await post(url, withKey(init, key), request.signal);
      nameSession(session.id, String(url), key);
      return session;
    } catch (error) {
      if (key === request.idempotencyKey || !isConflict(error)) throw error;
      // The page now asks for another kind of session than the one that it left unused.
      forgetKey(String(url));
      return getSession(request);
    }
  };
  return getSession;
}

function withKey(init: RequestInit, key: string): RequestInit {
  const headers = new Headers(init.headers);
  if (!headers.has('idempotency-key')) headers.set('idempotency-key', key);
  return { ...init, headers };
}

/** A request to another origin with a header of ours would need that server's permission. */
function mayAddHeaders(url: string | URL): boolean {
  if (typeof location === 'undefined') return true;
  return new URL(url, location.href).origin === location.origin;
}

function isConflict(error: unknown): boolean {
  return error instanceof SvcError && error.code === 'idempotency_conflict';
}

async function post(url: string | URL, init: RequestInit, signal: AbortSignal) {
  const response = await fetch(url, { method: 'POST', ...init, signal }).catch((cause: unknown) => {
    throw new SvcError({
      code: signal.aborted ? 'aborted' : 'connection_failed',
      message: 'Your session server cannot be reached.',
      retryable: !signal.aborted,
      cause,
    });
  });
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
}
