import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { networkOf } from '../network.ts';
import { rateLimited, type RateLimiter } from '../rate-limit.ts';
import type { Caller } from './authenticator.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/** Who asks, and may they ask now? Both are answered before a byte of the body is read. */
export function authenticateCaller(deps: Deps) {
  return async (request: FastifyRequest): Promise<void> => {
    const failures = deps.limiters.failedAuthentication;
    const network = networkOf(request.ip);
    const decision = failures.peek(network);
    if (!decision.allowed) throw rateLimited('failed-authentication', failures, decision);
    const { authorization } = request.headers;
    // Nothing after this needs it, so nothing after this can let it out.
    request.headers.authorization = undefined;
    try {
      request.caller = await deps.authenticator.authenticate(authorization);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) failures.take(network);
      throw error;
    }
  };
}

/** The caller that `authenticateCaller` left behind. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error('This route does not authenticate.');
  return request.caller;
}

/** Counts the request and says so in the headers of the IETF draft, whether it is allowed or not. */
export function limitRate(
  name: string,
  limiter: RateLimiter,
  keyOf: (request: FastifyRequest) => string,
) {
  const policy = `"${name}";q=${limiter.policy.perMinute};w=60`;
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const { allowed, remaining, resetSeconds } = limiter.take(keyOf(request));
    void reply
      .header('ratelimit-policy', policy)
      .header('ratelimit', `"${name}";r=${remaining};t=${resetSeconds}`);
    if (!allowed) throw new ApiError('request_rate_exceeded', { retryAfterSeconds: resetSeconds });
    done();
  };
}
