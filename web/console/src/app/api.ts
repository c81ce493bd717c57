import type { ErrorBody } from '@svc-asr/protocol';
import { reportAnswer, reportTrouble, signInAgain, untilSignedIn } from './connection.ts';

/** A failed request, with a stable code to look up the message by. */
export class ConsoleApiError extends Error {
  readonly code: string;
  readonly requestId: string | null;
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | null;
  constructor(input: {
    code: string;
    message: string;
    requestId: string | null;
    retryAfterMs?: number | null;
  }) {
    super(input.message);
    this.name = 'ConsoleApiError';
    this.code = input.code;
    this.requestId = input.requestId;
    this.retryAfterMs = input.retryAfterMs ?? null;
  }
}

/** What a request does when the session has ended: wait for a new sign-in, or fail. */
export interface CallOptions {
  readonly signIn?: 'wait' | 'fail';
}

/** A server that accepts connections and never answers is as good as unreachable. */
const ANSWER_TIMEOUT_MS = 15_000;

export function get<T>(path: string, options: CallOptions = {}): Promise<T> {
  return call<T>({ method: 'GET', path }, options);
}

export function post<T>(path: string, body: unknown = {}, options: CallOptions = {}): Promise<T> {
  return call<T>({ method: 'POST', path, body }, options);
}

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
}

async function call<T>(request: Call, { signIn = 'wait' }: CallOptions): Promise<T> {
  if (signIn === 'fail') return send<T>(request);
  await untilSignedIn();
  try {
    return await send<T>(request);
  } catch (error) {
    if (!isSignedOut(error)) throw error;
    await signInAgain();
    return send<T>(request);
  }
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof ConsoleApiError && error.code === 'not_signed_in';
}

async function send<T>(request: Call): Promise<T> {
  const response = await ask(request).catch((cause: unknown) => {
    reportTrouble('unreachable');
    throw new ConsoleApiError({ code: 'offline', message: String(cause), requestId: null });
  });
  const body: T | ErrorBody | null = await response.json().catch(() => null);
  if (response.status >= 500) reportTrouble('failing');
  else reportAnswer();
  if (body !== null && isErrorBody(body)) {
    const seconds = Number(response.headers.get('retry-after'));
    throw new ConsoleApiError({
      ...body.error,
      requestId: body.error.request_id,
      retryAfterMs: seconds > 0 ? seconds * 1_000 : null,
    });
  }
  if (response.ok && body !== null) return body;
  // Not an answer of this service, but of a proxy in front of it.
  throw new ConsoleApiError({
    code: 'bad_answer',
    message: String(response.status),
    requestId: null,
  });
}

async function ask({ method, path, body }: Call): Promise<Response> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), ANSWER_TIMEOUT_MS);
  try {
    return await fetch(`/console-api${path}`, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      signal: timeout.signal,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  } finally {
    clearTimeout(timer);
  }
}

function isErrorBody(value: unknown): value is ErrorBody {
  return typeof value === 'object' && value !== null && 'error' in value;
}
