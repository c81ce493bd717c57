import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { networkOf } from '../network.ts';
import type { ConsoleDeps } from './console-deps.ts';

/** Forms that anybody may send are counted by the address they come from. */
export function limitForms(deps: ConsoleDeps) {
  return async (request: FastifyRequest): Promise<void> => {
    const { allowed, resetSeconds } = deps.service.limiters.consoleForms.take(
      networkOf(request.ip),
    );
    if (!allowed) throw new ApiError('request_rate_exceeded', { retryAfterSeconds: resetSeconds });
  };
}
