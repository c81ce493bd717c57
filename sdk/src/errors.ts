import type { ErrorBody } from '@svc-asr/protocol';
import { isRecord } from './answers.ts';

/** What went wrong, whether trying again can help, and the id to quote when asking for help. */
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
  readonly cause?: unknown;
}

/**
 * Every failure this package reports, over HTTP and on a stream. `code` is stable: a code of the API reference or
 * one of this package's own (`connection_failed`, `timeout`, `aborted`, `stream_closed`, `finish_timeout` ...).
 */
export class SvcError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  /** The family of the code, as the API's error table has it; null for this package's own codes. */
  readonly type: string | null;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly sessionId: string | null;
  readonly closeCode: number | null;
  readonly retryAfterMs: number | null;

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
  }
}

/** The error in a refused HTTP answer; an answer that is not ours (a proxy's page) still tells its status. */
export function errorFromAnswer(answer: {
  status: number;
  body: unknown;
  requestId: string | null;
  retryAfter: string | null;
}): SvcError {
  const told = errorFields(answer.body);
  const seconds = Number(answer.retryAfter ?? Number.NaN);
  return new SvcError({
    code: told.code ?? `http_${answer.status}`,
    type: told.type,
    message: told.message ?? `The service answered with status ${answer.status}.`,
    retryable: [429, 502, 503, 504].includes(answer.status),
    status: answer.status,
    requestId: told.request_id ?? answer.requestId,
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
