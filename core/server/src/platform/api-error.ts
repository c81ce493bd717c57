import { isDatabaseUnavailable, isStatementTimeout } from './database/db.ts';
import { API_ERRORS, apiErrorType, type ApiErrorCode, type ErrorBody } from '@svc-asr/protocol';

/** A key that may no longer be used. */
export interface RefusedKey {
  readonly accountId: string;
  readonly keyId: string;
}

export interface ApiErrorOptions {
  readonly cause?: unknown;
  readonly retryAfterSeconds?: number;
  /** Further parts of the response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The account and key that are refused, if the key's secret was right. */
  readonly refused?: RefusedKey;
  /** A more specific fixed message of the protocol, never built from input. */
  readonly message?: string;
}

/** An error for the caller: a row of the protocol's error table, and Retry-After where waiting helps. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly retryAfterSeconds: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly refused: RefusedKey | null;

  constructor(code: ApiErrorCode, options: ApiErrorOptions = {}) {
    super(options.message ?? API_ERRORS[code].message, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds ?? retryAfterDefault(code);
    this.headers = options.headers ?? {};
    this.refused = options.refused ?? null;
  }

  /** The message, if it is more specific than that of the code. */
  get detail(): string | null {
    return this.message === API_ERRORS[this.code].message ? null : this.message;
  }

  get status(): number {
    return API_ERRORS[this.code].status;
  }
}

/** 429 and 503 always have Retry-After. */
function retryAfterDefault(code: ApiErrorCode): number | null {
  const { status } = API_ERRORS[code];
  if (status === 503) return code === 'service_unavailable' ? 1 : 2;
  return status === 429 ? 5 : null;
}

/**
 * While the database serves nobody. Clients that failed at different times come back as evenly as they went: waits of
 * different lengths would bring more of them in the first seconds after its return.
 */
const AWAY_SECONDS = 4;

/**
 * Maps anything thrown to the error that the caller sees. There is no 500: unexpected errors are our
 * fault and retryable.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const isBusy = isDatabaseUnavailable(error) || isStatementTimeout(error);
  if (!isBusy) return new ApiError('internal_error', { cause: error });
  return new ApiError('service_unavailable', { cause: error, retryAfterSeconds: AWAY_SECONDS });
}

export function presentError(error: ApiError, requestId: string): ErrorBody {
  return {
    error: {
      type: apiErrorType(error.code),
      code: error.code,
      message: error.message,
      request_id: requestId,
    },
  };
}
