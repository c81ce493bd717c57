import { IDEMPOTENCY_KEY_PATTERN, LIMITS } from './constants.ts';
import { API_ERRORS, apiErrorType, ErrorBody, type ApiErrorCode } from './errors.ts';
import {
  EXAMPLE_BALANCE,
  EXAMPLE_CREATE_SESSION,
  EXAMPLE_MODEL_LIST,
  EXAMPLE_REQUEST_ID,
  EXAMPLE_SESSION,
} from './examples.ts';
import { AudioFormat, Model, ModelList } from './models.ts';
import { publishSchemas } from './published-schema.ts';
import { AsrSession, CreateSessionRequest } from './sessions.ts';
import { CreditBalance, UsageSession } from './usage.ts';

export const INTERFACE_VERSION = '1.0.0';

/** Which errors an endpoint can answer with. The tests hold the server to this table, and it to the server. */
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
  /** Refusals of the WebSocket upgrade, before the 101. */
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
  /** What is wrong before it is known what was asked for. */
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
      title: 'Streaming speech recognition for Kikuyu and Dholuo',
      version: INTERFACE_VERSION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: DESCRIPTION,
    },
    servers: [{ url: '/', description: 'The server that this document came from.' }],
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
          description: 'A permanent key that begins `svc_live_v1_`. It stays on your server.',
        },
      },
      headers: HEADERS,
      schemas: publishSchemas({
        accepted: [CreateSessionRequest],
        sent: [AudioFormat, Model, ModelList, AsrSession, UsageSession, CreditBalance, ErrorBody],
      }),
    },
  };
}

const DESCRIPTION = `A trusted server creates a session with its API key; whoever holds the session's credential
streams 16 kHz PCM over a WebSocket and reads live transcripts. The streaming protocol is described in
[asyncapi.json](/asyncapi.json).

Every answer carries \`X-Request-Id\`. Errors are \`{error: {type, code, message, request_id}}\`; \`code\` is stable, and
a code that you do not know is to be treated as its \`type\`. Retry 429 and 503 after \`Retry-After\`, with the same
\`Idempotency-Key\`. Inside v1 fields may be added to answers: ignore those that you do not know.`;

const HEADERS = {
  RequestId: {
    description: 'Quote it to support. It is no secret.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  RetryAfter: {
    description: 'Seconds to wait before trying again.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimitPolicy: {
    description: 'The quota (q) in a window of so many seconds (w).',
    schema: { type: 'string', examples: ['"sessions";q=30;w=60'] },
  },
  RateLimit: {
    description: 'How many requests remain at once (r), and seconds until there is one more (t).',
    schema: { type: 'string', examples: ['"sessions";r=9;t=2'] },
  },
  IdempotentReplayed: {
    description: '`true` when an earlier reservation is answered once more.',
    schema: { const: 'true' },
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
    description: 'Public. Models never change under their id.',
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
    description: `Reserves audio credit and answers with an address and a one-use credential that is good for
${LIMITS.credentialLifetimeMs / 1000} seconds. With less credit than asked for, at least a second, the reservation is what there is:
\`credits.reserved\` tells. Unused time comes back when the session ends. The whole answer is a secret: never log it.`,
    security: [{ apiKey: [] }],
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description: 'Repeating a request with its key until `expires_at` gives the same session.',
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
      201: success('The session, reserved.', 'AsrSession', EXAMPLE_SESSION, {
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
    summary: 'Read the balance and the latest sessions',
    description:
      'Integer milliseconds of audio. At most 20 sessions, newest first, live ones included.',
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

/** One response a status, with an example for every code that it may carry. */
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
