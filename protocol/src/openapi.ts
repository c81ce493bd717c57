import { IDEMPOTENCY_KEY_PATTERN, LIMITS } from './constants.ts';
import { API_ERRORS, apiErrorType, ErrorBody, ErrorDetail, type ApiErrorCode } from './errors.ts';
import {
  EXAMPLE_BALANCE,
  EXAMPLE_CREATE_SESSION,
  EXAMPLE_MODEL_LIST,
  EXAMPLE_REQUEST_ID,
  EXAMPLE_SESSION,
} from './examples.ts';
import { AudioFormat, Model, ModelIdSchema, ModelList } from './models.ts';
import { publishSchemas } from './published-schema.ts';
import { AsrSession, CreateSessionRequest, SessionAudio, SessionCredits } from './sessions.ts';
import { CreditBalance, SessionStatusSchema, UsageSession } from './usage.ts';

export const INTERFACE_VERSION = '1.0.0';

/** The errors that each endpoint can return. Tests compare this table with the server, in both directions. */
export const ENDPOINT_ERRORS = {
  listModels: ['request_rate_exceeded'],
  createSession: [
    'invalid_json',
    'invalid_parameter',
    'missing_parameter',
    'unknown_parameter',
    'invalid_idempotency_key',
    'missing_api_key',
    'invalid_api_key',
    'expired_api_key',
    'revoked_api_key',
    'insufficient_credits',
    'account_inactive',
    'model_scope_denied',
    'model_not_found',
    'idempotency_conflict',
    'request_too_large',
    'unsupported_media_type',
    'concurrency_limit_exceeded',
    'request_rate_exceeded',
    'service_unavailable',
    'capacity_exceeded',
    'service_restarting',
    'internal_error',
  ],
  getUsage: [
    'missing_api_key',
    'invalid_api_key',
    'expired_api_key',
    'revoked_api_key',
    'account_inactive',
    'request_rate_exceeded',
    'service_unavailable',
    'internal_error',
  ],
  /** Errors of the WebSocket upgrade, before the 101. */
  openStream: [
    'unsupported_subprotocol',
    'missing_session_credential',
    'invalid_session_credential',
    'session_credential_expired',
    'session_credential_used',
    'account_inactive',
    'origin_not_allowed',
    'upgrade_required',
    'request_rate_exceeded',
    'capacity_exceeded',
    'service_restarting',
    'service_unavailable',
    'internal_error',
  ],
  /** Errors found before the endpoint is known. */
  anyRequest: [
    'malformed_request',
    'route_not_found',
    'method_not_allowed',
    'request_timeout',
    'request_headers_too_large',
  ],
} as const satisfies Record<string, readonly ApiErrorCode[]>;

export function openApiDocument() {
  return {
    openapi: '3.1.1',
    info: {
      title: 'svc-asr',
      summary: 'Streaming speech recognition for Kikuyu and Dholuo',
      version: INTERFACE_VERSION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: DESCRIPTION,
    },
    servers: [{ url: '/', description: 'The server that served this document.' }],
    tags: [{ name: 'Models' }, { name: 'Sessions' }, { name: 'Usage' }],
    paths: {
      '/v1/models': { get: listModels() },
      '/v1/asr/sessions': { post: createSession() },
      '/v1/usage': { get: getUsage() },
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'A permanent key that starts with `svc_live_v1_`. Keep it on your server.',
        },
      },
      headers: HEADERS,
      schemas: publishSchemas({
        accepted: [CreateSessionRequest],
        sent: [
          ModelIdSchema,
          AudioFormat,
          Model,
          ModelList,
          SessionAudio,
          SessionCredits,
          AsrSession,
          SessionStatusSchema,
          UsageSession,
          CreditBalance,
          ErrorDetail,
          ErrorBody,
        ],
      }),
    },
  };
}

const DESCRIPTION = `A trusted server creates a session with its API key. The holder of the session's credential streams
16 kHz PCM over a WebSocket and reads live transcripts. [asyncapi.json](/asyncapi.json) describes the streaming protocol.

Every response carries \`X-Request-Id\`. Errors are \`{error: {type, code, message, request_id}}\`. A \`code\` is stable; treat
an unknown one as its \`type\`. After 429 and 503 wait \`Retry-After\` seconds, then retry with the same \`Idempotency-Key\`.
Responses may gain fields within v1: ignore unknown ones.`;

const HEADERS = {
  RequestId: {
    description: 'Quote it to support. It is not a secret.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  RetryAfter: {
    description: 'Seconds to wait before a retry.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimitPolicy: {
    description: 'The quota (q) per window (w, in seconds).',
    schema: { type: 'string', examples: ['"sessions";q=30;w=60'] },
  },
  RateLimit: {
    description: 'Requests left (r) and seconds until one more is allowed (t).',
    schema: { type: 'string', examples: ['"sessions";r=9;t=2'] },
  },
  IdempotentReplayed: {
    description: '`true` when the response repeats an earlier reservation.',
    schema: { type: 'string', enum: ['true'] },
  },
} as const;

const REQUEST_ID_HEADER = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } } as const;
const RATE_HEADERS = {
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
  RateLimit: { $ref: '#/components/headers/RateLimit' },
} as const;

function listModels() {
  return {
    operationId: 'listModels',
    tags: ['Models'],
    summary: 'List the models',
    description:
      'Public. `build` names the weights that serve a model. The operator may replace them.',
    security: [],
    responses: {
      200: success('The models.', 'ModelList', EXAMPLE_MODEL_LIST),
      ...errorResponses(ENDPOINT_ERRORS.listModels),
    },
  };
}

function createSession() {
  return {
    operationId: 'createSession',
    tags: ['Sessions'],
    summary: 'Create a streaming session',
    description: `Reserves audio credit and returns a WebSocket address and a single-use credential, valid for
${LIMITS.credentialLifetimeMs / 1000} seconds. If less credit is left than requested, but at least a second, the reservation is
shorter: see \`credits.reserved\`. Unused time is returned when the session ends. The whole response is a secret: never log it.`,
    security: [{ apiKey: [] }],
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'Repeating a request with the same key before `expires_at` returns the same session.',
        schema: { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN, minLength: 1, maxLength: 128 },
        example: 'order-7431',
      },
    ],
    requestBody: {
      required: true,
      description: `At most ${LIMITS.requestBodyBytes / 1024} KiB.`,
      content: json('CreateSessionRequest', EXAMPLE_CREATE_SESSION),
    },
    responses: {
      201: success('The reserved session.', 'AsrSession', EXAMPLE_SESSION, {
        'Idempotent-Replayed': { $ref: '#/components/headers/IdempotentReplayed' },
      }),
      ...errorResponses(ENDPOINT_ERRORS.createSession),
    },
  };
}

function getUsage() {
  return {
    operationId: 'getUsage',
    tags: ['Usage'],
    summary: 'Get the balance and recent sessions',
    description: 'Milliseconds of audio. At most 20 sessions, newest first, including live ones.',
    security: [{ apiKey: [] }],
    responses: {
      200: success('The balance.', 'CreditBalance', EXAMPLE_BALANCE),
      ...errorResponses(ENDPOINT_ERRORS.getUsage),
    },
  };
}

function success(description: string, schema: string, example: unknown, headers: object = {}) {
  return {
    description,
    headers: { ...REQUEST_ID_HEADER, ...RATE_HEADERS, ...headers },
    content: json(schema, example),
  };
}

function json(schema: string, example: unknown) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example } };
}

/** Returns one response per status, with an example for each of its codes. */
function errorResponses(codes: readonly ApiErrorCode[]) {
  const statuses = [...new Set(codes.map((code) => API_ERRORS[code].status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => API_ERRORS[code].status === status);
      const retryAfter = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
      const waits = status === 429 || status === 503;
      return [
        status,
        {
          description: own.map((code) => `\`${code}\`: ${API_ERRORS[code].message}`).join('\n\n'),
          headers: { ...REQUEST_ID_HEADER, ...(waits ? retryAfter : {}) },
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/ErrorBody' },
              examples: Object.fromEntries(
                own.map((code) => [code, { value: exampleError(code) }]),
              ),
            },
          },
        },
      ];
    }),
  );
}

function exampleError(code: ApiErrorCode): ErrorBody {
  return {
    error: {
      type: apiErrorType(code),
      code,
      message: API_ERRORS[code].message,
      request_id: EXAMPLE_REQUEST_ID,
    },
  };
}
