import {
  CREDENTIAL_PREFIX,
  IDEMPOTENCY_KEY_PATTERN,
  LIMITS,
  STREAM_PATH,
  SUBPROTOCOL,
} from '../constants.ts';
import { API_ERRORS, ErrorBody, ErrorDetail, type ApiErrorCode } from '../errors.ts';
import {
  EXAMPLE_BALANCES,
  EXAMPLE_MODEL_LISTS,
  EXAMPLE_REQUESTS,
  EXAMPLE_SESSIONS,
} from './examples.ts';
import { AudioFormat, Model, ModelIdSchema, ModelList } from '../models.ts';
import { errorResponse, errorResponses, HEADERS, success, switching } from './openapi-responses.ts';
import { publishSchemas } from './published-schema.ts';
import { REQUEST_SAMPLES } from './request-samples.ts';
import { AsrSession, CreateSessionRequest, SessionAudio, SessionCredits } from '../sessions.ts';
import { CreditBalance, SessionStatusSchema, UsageSession } from '../usage.ts';

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
    tags: [
      { name: 'Models', description: 'The models of the service.' },
      { name: 'Sessions', description: 'Sessions, each of which opens one stream.' },
      { name: 'Usage', description: 'Credit and charges.' },
    ],
    paths: {
      '/v1/models': { get: listModels() },
      '/v1/asr/sessions': { post: createSession() },
      [STREAM_PATH]: { get: openStream() },
      '/v1/usage': { get: getUsage() },
    },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      responses: {
        MalformedRequest: errorResponse(['malformed_request']),
        RouteNotFound: errorResponse(['route_not_found']),
        MethodNotAllowed: errorResponse(['method_not_allowed']),
        RequestTimeout: errorResponse(['request_timeout']),
        RequestHeadersTooLarge: errorResponse(['request_headers_too_large']),
      },
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
Responses may gain fields within v1: ignore unknown ones.

Some errors don't depend on the endpoint: ${ENDPOINT_ERRORS.anyRequest.map(withStatus).join(', ')}. They are in
\`components.responses\`.`;

const SECURITY_SCHEMES = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A permanent key that starts with `svc_live_v1_`. Keep it on your server.',
  },
  sessionCredential: {
    type: 'apiKey',
    in: 'header',
    name: 'Sec-WebSocket-Protocol',
    description: `Both \`websocket_protocols\` of a session: \`${SUBPROTOCOL}, ${CREDENTIAL_PREFIX}...\`. The second is a secret that works once.`,
  },
} as const;

function withStatus(code: ApiErrorCode): string {
  return `${API_ERRORS[code].status} \`${code}\``;
}

/** The errors of every request that reaches an endpoint. Others have no endpoint. */
const BROKEN_REQUESTS = [
  'malformed_request',
  'request_timeout',
  'request_headers_too_large',
] as const satisfies readonly ApiErrorCode[];

function listModels() {
  return {
    operationId: 'listModels',
    tags: ['Models'],
    summary: 'List the models',
    description:
      'Public: needs no key. An id names a language, not fixed weights, which the operator may replace.',
    security: [],
    'x-codeSamples': REQUEST_SAMPLES.listModels,
    responses: {
      200: success('The models.', { schema: 'ModelList', examples: EXAMPLE_MODEL_LISTS }),
      ...errorResponses([...ENDPOINT_ERRORS.listModels, ...BROKEN_REQUESTS]),
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
    'x-codeSamples': REQUEST_SAMPLES.createSession,
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
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/CreateSessionRequest' },
          examples: EXAMPLE_REQUESTS,
        },
      },
    },
    responses: {
      201: success(
        'The reserved session.',
        { schema: 'AsrSession', examples: EXAMPLE_SESSIONS },
        { 'Idempotent-Replayed': 'IdempotentReplayed' },
      ),
      ...errorResponses([...ENDPOINT_ERRORS.createSession, ...BROKEN_REQUESTS]),
    },
  };
}

function openStream() {
  return {
    operationId: 'openStream',
    tags: ['Sessions'],
    summary: 'Open the stream of a session',
    description: `The WebSocket upgrade. Use \`websocket_url\` as it is: its host may differ from the API's. Offer both
\`websocket_protocols\`. After the 101 the stream speaks the protocol of [asyncapi.json](/asyncapi.json).

A refusal doesn't use up the credential. Browsers hide refusals, so a request with \`Origin\` and both subprotocols gets a 101
first, then a fatal \`error\` event and a close with 4 and the status, such as 4401.`,
    security: [{ sessionCredential: [] }],
    'x-codeSamples': REQUEST_SAMPLES.openStream,
    responses: {
      101: switching('The stream is open. Wait for `ready` before you send audio.'),
      ...errorResponses([...ENDPOINT_ERRORS.openStream, ...BROKEN_REQUESTS]),
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
    'x-codeSamples': REQUEST_SAMPLES.getUsage,
    responses: {
      200: success('The balance.', { schema: 'CreditBalance', examples: EXAMPLE_BALANCES }),
      ...errorResponses([...ENDPOINT_ERRORS.getUsage, ...BROKEN_REQUESTS]),
    },
  };
}
