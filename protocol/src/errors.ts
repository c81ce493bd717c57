import { Type, type Static } from 'typebox';
import { Closed, Uuid } from './schema.ts';

/**
 * Every error an HTTP answer can carry, by its `code`. `type` is the value of the interface's table and equals
 * the code unless stated. Messages are fixed sentences that never repeat input. Add freely, never rename.
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
    message:
      'The parameters are not valid. Send an object: model is a string, max_audio_seconds a whole number from 1 to 300.',
  },
  missing_parameter: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A required parameter is missing. A session needs at least a model.',
  },
  unknown_parameter: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'The request has a parameter that does not exist. Only model and max_audio_seconds do.',
  },
  invalid_idempotency_key: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'The Idempotency-Key is not valid. Send 1 to 128 letters, digits, dots, colons, underscores or hyphens.',
  },
  unsupported_subprotocol: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'The subprotocols are not those of one session. Offer both websocket_protocols values of its response.',
  },
  malformed_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'This is not a well-formed HTTP request. Fix the client.',
  },
  missing_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'No API key was sent. Send it as Authorization: Bearer <API_KEY>.',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'The API key is not valid. Check that it was copied whole.',
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
    message: 'The session credential is not valid. Create a new session.',
  },
  session_credential_expired: {
    status: 401,
    type: 'authentication_error',
    message: 'The session credential has expired. Create a new session.',
  },
  session_credential_used: {
    status: 401,
    type: 'authentication_error',
    message: 'The session credential was used already. Create a new session.',
  },
  insufficient_credits: {
    status: 402,
    message: 'There is less than one second of audio credit left. Get more, then try again.',
  },
  account_inactive: {
    status: 403,
    type: 'permission_error',
    message: 'This account is not active. Ask the operator of this service.',
  },
  model_scope_denied: {
    status: 403,
    type: 'permission_error',
    message: 'This API key may not use the requested model. Use a key whose scope has it.',
  },
  origin_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: 'This account does not stream from this web origin. Add it to its allowed origins.',
  },
  model_not_found: {
    status: 404,
    message: 'The requested model does not exist. GET /v1/models lists those that do.',
  },
  route_not_found: {
    status: 404,
    type: 'invalid_request_error',
    message: 'There is nothing at this address. See the API reference.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'This address does not answer to this method. The Allow header lists those it does.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message: 'The request did not arrive within ten seconds. Send it again, in one go.',
  },
  idempotency_conflict: {
    status: 409,
    message: 'This Idempotency-Key was used with another request. Use a new key for a new request.',
  },
  request_too_large: {
    status: 413,
    message: 'The request body is larger than 16 KiB. Send model and max_audio_seconds only.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The Content-Type is not application/json. Send the body as JSON, with that type.',
  },
  upgrade_required: {
    status: 426,
    type: 'invalid_request_error',
    message: 'This address speaks WebSocket version 13 only. Open it with a WebSocket client.',
  },
  concurrency_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message:
      'This account already has an active or reserved ASR session. Retry as Retry-After says.',
  },
  request_rate_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many requests. Wait as long as Retry-After says.',
  },
  request_headers_too_large: {
    status: 431,
    type: 'invalid_request_error',
    message: 'The request headers are larger than 8 KiB. Send fewer or shorter ones.',
  },
  service_unavailable: {
    status: 503,
    type: 'api_error',
    message: 'The service is unavailable for the moment. Retry as Retry-After says.',
  },
  capacity_exceeded: {
    status: 503,
    type: 'api_error',
    message: 'No recogniser is free. Retry as Retry-After says.',
  },
  service_restarting: {
    status: 503,
    type: 'api_error',
    message: 'This server is restarting. Retry as Retry-After says.',
  },
  internal_error: {
    status: 503,
    type: 'api_error',
    message: 'Something went wrong on our side; nothing was charged. Retry as Retry-After says.',
  },
} as const satisfies Record<string, { status: number; type?: string; message: string }>;

/** What `concurrency_limit_exceeded` says once it is known which kind of session stands in the way. */
export const CONCURRENCY_MESSAGES = {
  reserved:
    'This account already has an active or reserved ASR session: a reserved one. Use it, or retry as Retry-After says.',
  active:
    'This account already has an active or reserved ASR session: an active one. End it, then retry as Retry-After says.',
} as const;

/** What `request_rate_exceeded` says when not requests were too many but failures. */
export const FAILURES_MESSAGE =
  'Too many sessions of this account failed within the hour; none was charged. Retry as Retry-After says, or ask the operator of this service.';

export type ApiErrorCode = keyof typeof API_ERRORS;

export function isApiErrorCode(value: string): value is ApiErrorCode {
  return Object.hasOwn(API_ERRORS, value);
}

export function apiErrorType(code: ApiErrorCode): string {
  const entry: { status: number; type?: string } = API_ERRORS[code];
  return entry.type ?? code;
}

export const ErrorBody = Closed(
  {
    error: Closed(
      {
        type: Type.String(),
        code: Type.String({
          description: 'Stable. Unknown codes may be added: treat them as their type.',
        }),
        message: Type.String({ description: 'A sentence that is safe to show.' }),
        request_id: Uuid,
      },
      'Error',
    ),
  },
  'ErrorBody',
);
export type ErrorBody = Static<typeof ErrorBody>;
