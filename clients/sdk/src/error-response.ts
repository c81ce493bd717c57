import { SvcError } from './errors.ts';

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

const UNKNOWN = {
  code: 'session_server_failed',
  message: 'The session server failed. See its log.',
  retryable: false,
};

/**
 * Returns the HTTP response with which your server passes an error on to its page: status, code and `Retry-After` stay
 * as they are, so that the page's stream knows whether and when to ask again. Errors of your own code become a 500
 * without details.
 */
export function errorResponse(cause: unknown): ErrorResponse {
  const error = cause instanceof SvcError ? cause : new SvcError(UNKNOWN);
  const { code, type, message, requestId, retryAfterMs } = error;
  return {
    // Without a status the service did not answer. Only 503 makes the page ask again.
    status: error.status ?? (error.retryable ? 503 : 500),
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...(retryAfterMs === null ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
    },
    body: JSON.stringify({ error: { code, type, message, request_id: requestId } }),
  };
}
