import type { FastifyRequest } from 'fastify';
import { ApiError } from '../platform/api-error.ts';
import { networkOf } from '../platform/network.ts';
import type { ConsoleDeps } from './console-deps.ts';

/** Public forms are rate limited by network address. */
export function limitForms(deps: ConsoleDeps) {
  return async (request: FastifyRequest): Promise<void> => {
    const { allowed, resetSeconds } = await deps.service.limiters.consoleForms.take(
      networkOf(request.ip),
    );
    if (!allowed) throw new ApiError('request_rate_exceeded', { retryAfterSeconds: resetSeconds });
  };
}
