import type { ErrorBody } from '@svc-asr/protocol';

/** A failed request, with a stable code to look up the message by. */
export class ConsoleApiError extends Error {
  readonly code: string;
  readonly requestId: string | null;
  constructor(input: { code: string; message: string; requestId: string | null }) {
    super(input.message);
    this.name = 'ConsoleApiError';
    this.code = input.code;
    this.requestId = input.requestId;
  }
}

export function get<T>(path: string): Promise<T> {
  return call<T>('GET', path);
}

export function post<T>(path: string, body: unknown = {}): Promise<T> {
  return call<T>('POST', path, body);
}

async function call<T>(method: 'GET' | 'POST', path: string, payload?: unknown): Promise<T> {
  const response = await fetch(`/console-api${path}`, {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    ...(payload === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(payload) }),
  }).catch((cause: unknown) => {
    throw new ConsoleApiError({ code: 'offline', message: String(cause), requestId: null });
  });
  const body: T | ErrorBody | null = await response.json().catch(() => null);
  if (body !== null && isErrorBody(body)) {
    throw new ConsoleApiError({ ...body.error, requestId: body.error.request_id });
  }
  if (response.ok && body !== null) return body;
  throw new ConsoleApiError({ code: 'offline', message: response.statusText, requestId: null });
}

function isErrorBody(value: unknown): value is ErrorBody {
  return typeof value === 'object' && value !== null && 'error' in value;
}
