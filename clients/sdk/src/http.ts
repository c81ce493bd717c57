import { readLostKey } from '@svc-asr/protocol/lost-host.ts';
import { untrustedCertificate } from './certificate.ts';
import { errorFromResponse, SvcError } from './errors.ts';
import { parseRateLimit, type RateLimit } from './rate-limit.ts';
import { readJson } from './read-json.ts';
import { isBlocked, isPaced, retryWaitMs, wait, type RetryLimits } from './retry.ts';

export interface RequestInput<T> {
  /** Checks the shape of a successful response. */
  readonly accepts: (body: unknown) => body is T;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpOptions {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly limits: RetryLimits;
  readonly onRateLimit?: ((limit: RateLimit) => void) | undefined;
}

/** Returns the response body, or throws the last error after all retries or before the deadline. */
export async function request<T>(options: HttpOptions, input: RequestInput<T>): Promise<T> {
  const deadlineAt = performance.now() + options.deadlineMs;
  let waitedMs = 0;
  let paced = 0;
  const isAfterLoss = readLostKey(input.idempotencyKey ?? null) !== null;
  let hasJustClosed = !isAfterLoss;
  for (let failures = 1; ; failures += 1) {
    const limitMs = isAfterLoss ? afterLossMs(options.timeoutMs) : options.timeoutMs;
    const timeoutMs = Math.min(limitMs, Math.max(1, deadlineAt - performance.now()));
    const result = await attempt<T>({ ...options, timeoutMs }, input);
    if (result.ok) return result.value;
    const state = { failures, paced, waitedMs, hasJustClosed };
    const waitMs = retryWaitMs(result.error, state, options.limits, Math.random);
    if (waitMs === null || performance.now() + waitMs >= deadlineAt) throw result.error;
    await wait(waitMs, input.signal).catch((cause: unknown) => {
      throw aborted(cause);
    });
    waitedMs += waitMs;
    if (isPaced(result.error.retryAfterMs)) paced += 1;
    if (isBlocked(result.error)) hasJustClosed = false;
  }
}

/**
 * A stream that lost its connection may ask while its network is still gone. Its attempts are short, so that it is back soon
 * after the network, and of different lengths, because others lost theirs at the same moment.
 */
function afterLossMs(timeoutMs: number): number {
  return timeoutMs * (0.25 + 0.2 * Math.random());
}

type Attempt<T> = { ok: true; value: T } | { ok: false; error: SvcError };

async function attempt<T>(options: HttpOptions, input: RequestInput<T>): Promise<Attempt<T>> {
  const timeout = AbortSignal.timeout(Math.ceil(options.timeoutMs));
  const signal = input.signal === undefined ? timeout : AbortSignal.any([timeout, input.signal]);
  try {
    const response = await fetch(`${options.baseUrl}${input.path}`, {
      method: input.method,
      headers: headers(options, input),
      signal,
      // A redirect would send the key to another address.
      redirect: 'error',
      ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    });
    const rateLimit = parseRateLimit(response.headers.get('ratelimit'));
    if (rateLimit !== null) options.onRateLimit?.(rateLimit);
    const body = await readJson(response);
    if (response.ok && input.accepts(body)) return { ok: true, value: body };
    signal.throwIfAborted();
    if (response.ok) return { ok: false, error: unexpectedResponse(response.status) };
    return {
      ok: false,
      error: errorFromResponse({
        status: response.status,
        body,
        requestId: response.headers.get('x-request-id'),
        retryAfter: response.headers.get('retry-after'),
      }),
    };
  } catch (cause) {
    if (input.signal?.aborted === true) throw aborted(cause);
    // `fetch` wraps the network error.
    const untrusted = cause instanceof Error ? untrustedCertificate(cause.cause) : null;
    return { ok: false, error: untrusted ?? unreachable(cause, timeout.aborted) };
  }
}

function headers<T>(options: HttpOptions, input: RequestInput<T>): Record<string, string> {
  return {
    accept: 'application/json',
    ...(options.apiKey === null ? {} : { authorization: `Bearer ${options.apiKey}` }),
    ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(input.idempotencyKey === undefined ? {} : { 'idempotency-key': input.idempotencyKey }),
  };
}

function unexpectedResponse(status: number): SvcError {
  return new SvcError({
    code: 'unexpected_answer',
    message: 'The response is not from the service. Check the base URL.',
    retryable: false,
    status,
  });
}

function unreachable(cause: unknown, timedOut: boolean): SvcError {
  return new SvcError({
    code: timedOut ? 'timeout' : 'connection_failed',
    message: timedOut
      ? 'The service did not answer in time. Check the network, then try again.'
      : 'The service cannot be reached. Check the base URL and the network, then try again.',
    retryable: true,
    cause,
  });
}

function aborted(cause: unknown): SvcError {
  return new SvcError({
    code: 'aborted',
    message: 'The caller aborted the request.',
    retryable: false,
    cause,
  });
}
