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
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
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
  const fields = errorFields(response.body);
  const seconds = Number(response.retryAfter ?? Number.NaN);
  return new SvcError({
    code: fields.code ?? `http_${response.status}`,
    type: fields.type,
    message: fields.message ?? `The service responded with status ${response.status}.`,
    retryable: [429, 502, 503, 504].includes(response.status),
    status: response.status,
    requestId: fields.request_id ?? response.requestId,
    retryAfterMs: Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null,
  });
}

function errorFields(body: unknown): { [K in keyof ErrorBody['error']]: string | null } {
  const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
  const field = (name: string): string | null => {
    const value = error[name];
    return typeof value === 'string' ? value : null;
  };
  return {
    code: field('code'),
    type: field('type'),
    message: field('message'),
    request_id: field('request_id'),
  };
}
