import type { ErrorBody } from '@svc-asr/protocol';
import { isRecord } from './response-guards.ts';
import { userMessageFor } from './user-messages.ts';

/** What went wrong, whether a retry can help, and the request id to quote when you ask for support. */
export interface SvcErrorDetails {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly type?: string | null;
  readonly status?: number | null;
  readonly requestId?: string | null;
  readonly sessionId?: string | null;
  readonly closeCode?: number | null;
  readonly retryAfterMs?: number | null;
  /** Default: a text that fits the code. */
  readonly userMessage?: string;
  readonly cause?: unknown;
}

/**
 * The error of every failure, over HTTP and on a stream. `code` is stable: a code from the API reference or
 * one of this package's own (`connection_failed`, `timeout`, `aborted`, `stream_closed`, `finish_timeout` ...).
 */
export class SvcError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  /** The error type of the API reference. Null for this package's own codes. */
  readonly type: string | null;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly sessionId: string | null;
  readonly closeCode: number | null;
  readonly retryAfterMs: number | null;
  /** A sentence to show to the user of a page, in English. `message` is for developers. Translate by `code`. */
  readonly userMessage: string;

  constructor(details: SvcErrorDetails) {
    super(details.message, details);
    this.name = 'SvcError';
    this.code = details.code;
    this.retryable = details.retryable;
    this.type = details.type ?? null;
    this.status = details.status ?? null;
    this.requestId = details.requestId ?? null;
    this.sessionId = details.sessionId ?? null;
    this.closeCode = details.closeCode ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.userMessage = details.userMessage ?? userMessageFor(details);
  }
}

/** Builds the error for an HTTP error response. A foreign response (a proxy's page) keeps its status. */
export function errorFromResponse(response: {
  status: number;
  body: unknown;
  requestId: string | null;
  retryAfter: string | null;
}): SvcError {
  const { status, body } = response;
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  const field = (name: keyof ErrorBody['error']): string | null => {
    const value = error[name];
    return typeof value === 'string' ? value : null;
  };
  const seconds = Number(response.retryAfter ?? -1);
  return new SvcError({
    code: field('code') ?? `http_${status}`,
    type: field('type'),
    message: field('message') ?? `The service responded with status ${status}.`,
    retryable: [429, 502, 503, 504].includes(status),
    status,
    requestId: field('request_id') ?? response.requestId,
    retryAfterMs: seconds >= 0 && seconds < Infinity ? seconds * 1000 : null,
  });
}
