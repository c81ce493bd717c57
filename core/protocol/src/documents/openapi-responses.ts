import { API_ERRORS, apiErrorType, type ApiErrorCode, type ErrorBody } from '../errors.ts';
import { EXAMPLE_REQUEST_ID } from './example-ids.ts';

/** The responses of the OpenAPI document. */

export const HEADERS = {
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
    description:
      'Requests left (r) and seconds until one more is allowed (t). With `pk`, requests with the same value share the ' +
      'limit: those with any key of one account.',
    schema: { type: 'string', examples: ['"sessions";r=9;t=2'] },
  },
  IdempotentReplayed: {
    description: '`true` when the response repeats an earlier reservation.',
    schema: { type: 'string', enum: ['true'] },
  },
  Allow: {
    description: 'The methods that the endpoint supports.',
    schema: { type: 'string', examples: ['GET, HEAD'] },
  },
  Upgrade: {
    description: 'The protocol that the endpoint speaks.',
    schema: { type: 'string', enum: ['websocket'] },
  },
  Authenticate: {
    description: 'How to authenticate.',
    schema: { type: 'string', enum: ['Bearer'] },
  },
  Subprotocol: {
    description: 'The subprotocol that the server selected. It never repeats the credential.',
    schema: { type: 'string', enum: ['svc.realtime.v1'] },
  },
} as const;

export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

function header(name: keyof typeof HEADERS) {
  return { $ref: `#/components/headers/${name}` };
}

const RATE_HEADERS = {
  'RateLimit-Policy': header('RateLimitPolicy'),
  RateLimit: header('RateLimit'),
};

/** A response with a body. Requests that pass the key check carry the rate headers. */
export function success(
  description: string,
  body: { schema: string; examples: Readonly<Record<string, Example>> },
  headers: Partial<Record<string, keyof typeof HEADERS>> = {},
) {
  return {
    description,
    headers: { 'X-Request-Id': header('RequestId'), ...RATE_HEADERS, ...references(headers) },
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${body.schema}` },
        examples: body.examples,
      },
    },
  };
}

/** The 101 of the WebSocket upgrade. */
export function switching(description: string) {
  return {
    description,
    headers: references({ 'X-Request-Id': 'RequestId', 'Sec-WebSocket-Protocol': 'Subprotocol' }),
  };
}

/** Returns one response per status, with an example for each of its codes. */
export function errorResponses(codes: readonly ApiErrorCode[]) {
  const statuses = new Set(codes.map((code) => API_ERRORS[code].status));
  return Object.fromEntries(
    [...statuses].map((status) => [
      status,
      errorResponse(codes.filter((code) => API_ERRORS[code].status === status)),
    ]),
  );
}

/** The response for codes of one status. */
export function errorResponse(codes: readonly ApiErrorCode[]) {
  return {
    description: codes.map((code) => `\`${code}\`: ${API_ERRORS[code].message}`).join('\n\n'),
    headers: errorHeaders(codes),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/ErrorBody' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleError(code) }])),
      },
    },
  };
}

function errorHeaders(codes: readonly ApiErrorCode[]) {
  const [status] = codes.map((code) => API_ERRORS[code].status);
  const own: Partial<Record<number, Record<string, keyof typeof HEADERS>>> = {
    401: { 'WWW-Authenticate': 'Authenticate' },
    405: { Allow: 'Allow' },
    426: { Upgrade: 'Upgrade' },
    429: {
      'Retry-After': 'RetryAfter',
      'RateLimit-Policy': 'RateLimitPolicy',
      RateLimit: 'RateLimit',
    },
    503: { 'Retry-After': 'RetryAfter' },
  };
  return references({ 'X-Request-Id': 'RequestId', ...own[status ?? 0] });
}

function references(headers: Readonly<Partial<Record<string, keyof typeof HEADERS>>>) {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, own]) =>
      own === undefined ? [] : [[name, header(own)]],
    ),
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
