import { createHash } from 'node:crypto';
import { SPECIFIC_MESSAGES } from '@svc-asr/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { ApiError } from '../platform/api-error.ts';
import { networkOf } from '@svc-asr/runtime/network.ts';
import { rateLimited, type RateLimiter } from '../platform/network/rate-limit.ts';
import type { Caller } from '../accounts/keys/authenticator.ts';

const SEVERAL_HEADERS = SPECIFIC_MESSAGES.invalid_api_key.severalHeaders;

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/**
 * Authenticates the caller before the body is read. The limit per address counts failures only and is
 * checked after the key, so that a valid key passes behind carrier NAT however many wrong keys its
 * neighbours send.
 */
export function authenticateCaller(deps: Deps) {
  return async (request: FastifyRequest): Promise<void> => {
    const isAmbiguous = hasDifferentAuthorizations(request.raw.rawHeaders);
    const { authorization } = request.headers;
    // Nothing after this needs it, so nothing after this can leak it.
    request.headers.authorization = undefined;
    try {
      if (isAmbiguous) throw new ApiError('invalid_api_key', { message: SEVERAL_HEADERS });
      request.caller = await deps.authenticator.authenticate(authorization);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      const failures = deps.limiters.failedAuthentication;
      const decision = await failures.take(networkOf(request.ip));
      throw decision.allowed ? error : rateLimited('failed-authentication', failures, decision);
    }
  };
}

/** Node keeps the first of several Authorization headers. A proxy may have checked another one. */
function hasDifferentAuthorizations(rawHeaders: readonly string[]): boolean {
  let first: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'authorization') continue;
    first ??= rawHeaders[at + 1];
    if (rawHeaders[at + 1] !== first) return true;
  }
  return false;
}

/** Returns the caller that `authenticateCaller` set. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('This route does not authenticate.');
  return request.caller;
}

/** Names the bucket of an account's requests without naming the account. */
export function partitionOf(accountId: string): string {
  return createHash('sha256').update(accountId).digest('base64').slice(0, 16);
}

/** Counts the request and reports the limit in the IETF draft's headers, whether or not it is allowed. */
export function limitRate(
  name: string,
  limiter: RateLimiter,
  keyOf: (request: FastifyRequest) => string,
) {
  const policy = `"${name}";q=${limiter.policy.perMinute};w=60`;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { allowed, remaining, resetSeconds } = await limiter.take(keyOf(request));
    void reply
      .header('ratelimit-policy', policy)
      .header('ratelimit', `"${name}";r=${remaining};t=${resetSeconds}`);
    if (!allowed) throw new ApiError('request_rate_exceeded', { retryAfterSeconds: resetSeconds });
  };
}
