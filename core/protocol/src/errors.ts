import { Type, type Static } from 'typebox';
import { Closed, uuid } from './schema.ts';

/**
 * Every error that an HTTP response can carry, by `code`. `type` is the value of the interface's table and equals the
 * code unless stated. Messages are fixed sentences that never repeat input. Codes are added, never renamed.
 */
export const API_ERRORS = {
  invalid_json: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request body is not valid JSON. Send one JSON object.',
  },
  invalid_parameter: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A parameter is not valid. See /reference for the valid values.',
  },
  missing_parameter: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The parameter model is missing. GET /v1/models lists the model ids.',
  },
  unknown_parameter: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request has an unknown parameter. Send only model and max_audio_seconds.',
  },
  invalid_idempotency_key: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'The Idempotency-Key is invalid. Send 1 to 128 letters, digits, dots, colons, underscores or hyphens.',
  },
  unsupported_subprotocol: {
    status: 400,
    type: 'invalid_request_error',
    message:
      "The subprotocols don't belong to one session. Offer both websocket_protocols values of its response.",
  },
  malformed_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The HTTP request is malformed. Fix the client.',
  },
  missing_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'No API key was sent. Send it as Authorization: Bearer <API_KEY>.',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'The API key is not valid. Check that you copied the whole key.',
  },
  expired_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'The API key has expired. Create a new one in the console.',
  },
  revoked_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'The API key was revoked. Create a new one in the console.',
  },
  missing_session_credential: {
    status: 401,
    type: 'authentication_error',
    message: 'No session credential was offered. Offer both websocket_protocols values.',
  },
  invalid_session_credential: {
    status: 401,
    type: 'authentication_error',
    message: 'The session credential is invalid. Create a new session.',
  },
  session_credential_expired: {
    status: 401,
    type: 'authentication_error',
    message: 'The session credential has expired. Create a new session.',
  },
  session_credential_used: {
    status: 401,
    type: 'authentication_error',
    message: 'The session credential has already been used. Create a new session.',
  },
  insufficient_credits: {
    status: 402,
    message: 'Less than one second of audio credit is left. Add credit, then retry.',
  },
  account_inactive: {
    status: 403,
    type: 'permission_error',
    message: 'This account is inactive. Contact the operator of this service.',
  },
  model_scope_denied: {
    status: 403,
    type: 'permission_error',
    message: 'This API key may not use the requested model. Use a key whose scope includes it.',
  },
  origin_not_allowed: {
    status: 403,
    type: 'permission_error',
    message:
      "This web origin is not allowed for the account. Add it to the account's allowed origins.",
  },
  model_not_found: {
    status: 404,
    message: 'The requested model does not exist. GET /v1/models lists the model ids.',
  },
  route_not_found: {
    status: 404,
    type: 'invalid_request_error',
    message: 'Not found. See /reference for the list of endpoints.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message:
      'This endpoint does not support the method. The Allow header lists the supported ones.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message:
      'The request did not arrive in time: 5 seconds for its headers, 10 seconds in all. Send it again.',
  },
  idempotency_conflict: {
    status: 409,
    message:
      'This Idempotency-Key was used with a different request. Use a new key for a new request.',
  },
  request_too_large: {
    status: 413,
    message: 'The request body is larger than 16 KiB. Send only model and max_audio_seconds.',
  },
  unsupported_media_type: {
    status: 415,
    message:
      'The Content-Type is not application/json. Send JSON with Content-Type: application/json.',
  },
  upgrade_required: {
    status: 426,
    type: 'invalid_request_error',
    message: 'This endpoint accepts WebSocket version 13 only. Open it with a WebSocket client.',
  },
  concurrency_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message:
      'This account already has an active or reserved ASR session. Wait Retry-After seconds, then retry.',
  },
  request_rate_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many requests. Wait Retry-After seconds, then retry.',
  },
  request_headers_too_large: {
    status: 431,
    type: 'invalid_request_error',
    message: 'The request headers are larger than 8 KiB. Send fewer or shorter headers.',
  },
  service_unavailable: {
    status: 503,
    type: 'api_error',
    message: 'The service is temporarily unavailable. Wait Retry-After seconds, then retry.',
  },
  capacity_exceeded: {
    status: 503,
    type: 'api_error',
    message: 'No recogniser is free. Wait Retry-After seconds, then retry.',
  },
  service_restarting: {
    status: 503,
    type: 'api_error',
    message: 'This server is restarting. Wait Retry-After seconds, then retry.',
  },
  internal_error: {
    status: 503,
    type: 'api_error',
    message:
      'Something went wrong on our side. Nothing was charged. Wait Retry-After seconds, then retry.',
  },
} as const satisfies Record<string, { status: number; type?: string; message: string }>;

/** More specific messages for codes with several causes. They are fixed sentences too. */
export const SPECIFIC_MESSAGES = {
  concurrency_limit_exceeded: {
    reserved:
      'This account already has an active or reserved ASR session: a reserved one. Use it, or wait Retry-After seconds and retry.',
    active:
      'This account already has an active or reserved ASR session: an active one. End it, or wait Retry-After seconds and retry.',
  },
  invalid_json: {
    empty: 'The request body is empty. Send one JSON object.',
    byteOrderMark: 'The request body begins with a byte order mark (BOM). Send UTF-8 without one.',
    notUtf8: 'The request body is not UTF-8. Send one JSON object in UTF-8.',
    gzip: 'The request body is gzip data. Send uncompressed JSON.',
    duplicateKey: 'The JSON body has the same key twice in one object. Send each key once.',
  },
  invalid_parameter: {
    body: 'The request body is not a JSON object. Send an object with model and max_audio_seconds.',
    model: 'The parameter model is not valid. Send a string: GET /v1/models lists the model ids.',
    max_audio_seconds:
      'The parameter max_audio_seconds is not valid. Send an integer from 1 to 300.',
  },
  invalid_api_key: {
    severalHeaders: 'The request has different Authorization headers. Send one.',
    metricsToken:
      'The metrics token is missing or wrong. Send it as Authorization: Bearer <METRICS_TOKEN>.',
  },
  unsupported_media_type: {
    contentEncoding: 'The request body has a Content-Encoding. Send uncompressed JSON.',
  },
} as const;

export type ApiErrorCode = keyof typeof API_ERRORS;

export function isApiErrorCode(value: string): value is ApiErrorCode {
  return Object.hasOwn(API_ERRORS, value);
}

export function apiErrorType(code: ApiErrorCode): string {
  const entry: { status: number; type?: string } = API_ERRORS[code];
  return entry.type ?? code;
}

export const ErrorDetail = Closed(
  {
    type: Type.String({
      description: 'The class of the error. Fixed for each status, except for 404.',
    }),
    code: Type.String({
      description: 'Stable. Codes may be added: treat an unknown one as its type.',
    }),
    message: Type.String({ description: 'A sentence that is safe to show.' }),
    request_id: uuid('Equals the `X-Request-Id` header. Quote it to support.'),
  },
  'ErrorDetail',
  'What went wrong, for programs and for people.',
);

export const ErrorBody = Closed(
  { error: ErrorDetail },
  'ErrorBody',
  'The body of every error response.',
);
export type ErrorBody = Static<typeof ErrorBody>;
