import { API_ERRORS, apiErrorType, isApiErrorCode } from '@svc-asr/protocol/errors.ts';
import { STREAM_ERRORS } from '@svc-asr/protocol/events.ts';
import { ENDPOINT_ERRORS } from '@svc-asr/protocol/openapi.ts';

const PLACES = {
  listModels: '`GET /v1/models`',
  createSession: '`POST /v1/asr/sessions`',
  getUsage: '`GET /v1/usage`',
  openStream: 'the upgrade',
  anyRequest: 'any request',
} as const satisfies Record<keyof typeof ENDPOINT_ERRORS, string>;

/** docs/errors.md, from the same tables that the server answers from. */
export function errorPage(): string {
  return [
    '# Errors',
    '',
    'Made from the tables of `protocol/` by `npm run docs`. Codes are stable: new ones may be added, none is renamed.',
    'A code that you do not know is to be treated as its type.',
    '',
    '## HTTP',
    '',
    'Every refusal is `{"error": {"type", "code", "message", "request_id"}}`; `request_id` equals the `X-Request-Id` header',
    'and is what support needs. 429 and 503 carry `Retry-After` in seconds: retry those, with the same `Idempotency-Key`.',
    'Everything else fails again unless the request changes.',
    '',
    '| status | code | type | where | what it says |',
    '|---|---|---|---|---|',
    ...Object.keys(API_ERRORS).filter(isApiErrorCode).map(httpRow),
    '',
    '## On the stream',
    '',
    'An `error` event. A fatal one is followed by the close that it names; `failed` sessions cost nothing.',
    '',
    '| code | close | retry | what it says |',
    '|---|---|---|---|',
    ...Object.entries(STREAM_ERRORS).map(streamRow),
    '',
  ].join('\n');
}

function httpRow(code: keyof typeof API_ERRORS): string {
  const { status, message } = API_ERRORS[code];
  const places = Object.entries(ENDPOINT_ERRORS)
    .filter(([, codes]) => codes.some((own: string) => own === code))
    .map(([name]) => new Map(Object.entries(PLACES)).get(name));
  return `| ${status} | \`${code}\` | \`${apiErrorType(code)}\` | ${places.join(', ')} | ${message} |`;
}

function streamRow([code, error]: [
  string,
  { close?: number; retryable?: boolean; message: string },
]): string {
  const close = error.close ?? 'stays open';
  return `| \`${code}\` | ${close} | ${error.retryable === true ? 'new session' : 'no'} | ${error.message} |`;
}
