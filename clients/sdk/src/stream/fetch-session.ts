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
  const address = String(url);
  const getSession: GetSession = async (request) => {
    if (!mayAddHeaders(url)) return post(url, init, request.signal);
    const key = takeKey(address, request);
    try {
      const session = await post(url, withKey(init, key), request.signal);
      nameSession(session.id, address, key);
      return session;
    } catch (error) {
      const isConflict = error instanceof SvcError && error.code === 'idempotency_conflict';
      if (key === request.idempotencyKey || !isConflict) throw error;
      // The page now asks for another kind of session than the one that it left unused.
      forgetKey(address);
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
  const { ok, status, headers } = response;
  if (!ok) {
    throw errorFromResponse({
      status,
      body,
      requestId: headers.get('x-request-id'),
      retryAfter: headers.get('retry-after'),
    });
  }
  if (isSession(body)) return body;
  throw new SvcError({
    code: 'unexpected_answer',
    message: 'Your session server did not answer with a session.',
    retryable: false,
    status,
  });
}
