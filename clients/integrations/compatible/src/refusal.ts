import { AudioFileError } from '@svc-asr/runtime/decode-audio.ts';
import { SvcError } from '@svc-asr/sdk';

/** Which service's clients a door is for. Decides the form of its errors. */
export type Api = 'openai' | 'deepgram';

/** For metrics: a closed set, whatever code the service sends. */
export type RefusalReason =
  | 'bad_request'
  | 'wrong_key'
  | 'no_credit'
  | 'forbidden'
  | 'limit'
  | 'unavailable';

export interface RefusalDetails {
  readonly status: number;
  /** Stable. The service's own code where it is the service that refused. */
  readonly code: string;
  /** What happened, then what to do. Never repeats input. */
  readonly message: string;
  /** The request's parameter that is at fault. */
  readonly param?: string | null;
  /** How long a client should wait before it tries again. Null: trying again doesn't help. */
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

/** One refused request or socket. `server.ts` turns it into the error form of the door's clients. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly retryAfterMs: number | null;

  constructor(details: RefusalDetails) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Refusal';
    this.status = details.status;
    this.code = details.code;
    this.param = details.param ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
  }

  get reason(): RefusalReason {
    return REASONS[this.status] ?? (this.status < 500 ? 'bad_request' : 'unavailable');
  }
}

const REASONS: Readonly<Record<number, RefusalReason>> = {
  401: 'wrong_key',
  402: 'no_credit',
  403: 'forbidden',
  429: 'limit',
};
/** For failures that say nothing about when to come back. */
const RETRY_AFTER_MS = 1_000;

/** A request that asks for something that the service or this program can't do. */
export function badRequest(code: string, message: string, param: string | null = null): Refusal {
  return new Refusal({ status: 400, code, message, param });
}

/** Refused for now. */
export function busy(code: string, message: string, status: 429 | 503 = 503): Refusal {
  return new Refusal({ status, code, message, retryAfterMs: RETRY_AFTER_MS });
}

/** The SDK's sentences about the network are for the operator, who chose the address of the service. */
const FOR_CLIENTS: Readonly<Record<string, string>> = {
  connection_failed:
    'The speech service cannot be reached. Try again. If this lasts, tell the operator of this address.',
  timeout:
    'The speech service did not answer in time. Try again. If this lasts, tell the operator of this address.',
  unexpected_answer:
    'The speech service is not where this program expects it. Tell the operator of this address.',
};

/** The refusal for any error: the service's own sentence if it refused, else a general one. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof AudioFileError) {
    const { code, message } = error;
    if (code === 'ffmpeg_missing') return new Refusal({ status: 503, code, message, cause: error });
    const status = code === 'audio_too_long' ? 413 : 400;
    return new Refusal({ status, code, message, param: 'file', cause: error });
  }
  if (!(error instanceof SvcError)) {
    const message = 'Something went wrong in this program. Try again.';
    return new Refusal({
      status: 500,
      code: 'internal_error',
      message,
      retryAfterMs: RETRY_AFTER_MS,
      cause: error,
    });
  }
  const { code, retryable } = error;
  const message = FOR_CLIENTS[code] ?? error.message;
  const retryAfterMs = retryable ? (error.retryAfterMs ?? RETRY_AFTER_MS) : null;
  return new Refusal({ status: statusOf(error), code, message, retryAfterMs, cause: error });
}

/** Failures on a stream and of the network have no status. Only statuses of 500 and more mean that we failed. */
function statusOf({ status, retryable }: SvcError): number {
  if (status !== null && status >= 400) return status;
  return retryable ? 503 : 502;
}

/** The JSON body of an error, as the clients of each API expect it. */
export function errorBody(api: Api, refusal: Refusal, requestId: string): object {
  switch (api) {
    case 'openai': {
      const { message, param } = refusal;
      return { error: { message, ...openAiError(refusal), param, request_id: requestId } };
    }
    case 'deepgram':
      return { err_code: refusal.code, err_msg: refusal.message, request_id: requestId };
  }
}

interface OpenAiError {
  readonly type: string;
  readonly code: string;
  /** Our own code, where OpenAI has published another for the same. */
  readonly svc_code?: string;
}

/** The type and code that OpenAI publishes for an error. Programs compare them. */
export function openAiError(refusal: Refusal): OpenAiError {
  const { code, reason } = refusal;
  const published = (type: string, theirs: string): OpenAiError => ({
    type,
    code: theirs,
    ...(theirs === code ? {} : { svc_code: code }),
  });
  switch (reason) {
    case 'bad_request':
      return { type: 'invalid_request_error', code };
    case 'wrong_key':
      return published('invalid_request_error', 'invalid_api_key');
    case 'no_credit':
      return published('insufficient_quota', 'insufficient_quota');
    case 'forbidden':
      return { type: 'permission_error', code };
    case 'limit':
      return published('requests', 'rate_limit_exceeded');
    case 'unavailable':
      return { type: 'server_error', code };
  }
}

/**
 * OpenAI's clients retry 408, 409, 429 and 5xx twice unless `x-should-retry` says no. Some of Deepgram's clients show the headers
 * of a refused handshake, but none shows its body.
 */
export function errorHeaders(
  api: Api,
  refusal: Refusal,
  requestId: string,
): Record<string, string> {
  const { retryAfterMs, message } = refusal;
  const forDeepgram = {
    'dg-error': message.replaceAll(/[^ -~]/g, '?'),
    'dg-request-id': requestId,
  };
  return {
    ...(api === 'deepgram' ? forDeepgram : {}),
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': requestId,
    ...(retryAfterMs === null
      ? { 'x-should-retry': 'false' }
      : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
  };
}
