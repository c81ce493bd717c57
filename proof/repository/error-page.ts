import { API_ERRORS, apiErrorType, isApiErrorCode } from '@svc-asr/protocol/errors.ts';
import { STREAM_ERRORS } from '@svc-asr/protocol/events.ts';
import { ENDPOINT_ERRORS } from '@svc-asr/protocol/documents/openapi.ts';

const PLACES = {
  listModels: '`GET /v1/models`',
  createSession: '`POST /v1/asr/sessions`',
  getUsage: '`GET /v1/usage`',
  openStream: 'the WebSocket upgrade',
  anyRequest: 'any request',
} as const satisfies Record<keyof typeof ENDPOINT_ERRORS, string>;

/** Returns docs/errors.md, generated from the server's own tables. */
export function errorPage(): string {
  return [
    '# Errors',
    '',
    'Codes are stable: new ones may be added, and none is renamed. Treat an unknown code like its type. `npm run docs` writes this page',
    'from `core/protocol/`.',
    '',
    '## HTTP',
    '',
    'Every error is `{"error": {"type", "code", "message", "request_id"}}`. `request_id` equals the `X-Request-Id` header; quote it',
    'to support. 429 and 503 carry `Retry-After`: wait that many seconds, then retry with the same `Idempotency-Key`. A 408 may be',
    'sent again at once. Other requests fail again unless you change them.',
    '',
    '| status | code | message | endpoint | type |',
    '|---|---|---|---|---|',
    ...Object.keys(API_ERRORS).filter(isApiErrorCode).map(httpRow),
    '',
    '## On the stream',
    '',
    'Errors arrive as `error` events. After a fatal one, the server closes the stream with the close code shown here. A fatal error with',
    '`retryable: true` is our fault, and its session is not charged.',
    '',
    '| code | close code | next step | message |',
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
  return `| ${status} | \`${code}\` | ${message} | ${places.join(', ')} | \`${apiErrorType(code)}\` |`;
}

function streamRow([code, error]: [
  string,
  { close?: number; retryable?: boolean; message: string },
]): string {
  const close = error.close ?? 'stays open';
  return `| \`${code}\` | ${close} | ${nextStep(error)} | ${error.message} |`;
}

function nextStep({ close, retryable }: { close?: number; retryable?: boolean }): string {
  if (close === undefined) return retryable === true ? 'same stream, after 1 s' : 'same stream';
  if (retryable === true || close === 4408) return 'new session';
  return close === 4403 ? 'contact the operator' : 'fix the client';
}
