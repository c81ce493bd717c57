import type { FastifyRequest } from 'fastify';
import { ApiError } from '../platform/api-error.ts';
import { networkOf } from '@svc-asr/protocol/network.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { deviceOf } from './known-device.ts';

/**
 * Public forms are rate limited by network address. When a network is over its limit, a device on which someone has
 * signed in before still has one of its own, so that its neighbours can't lock it out.
 */
export function limitForms(deps: ConsoleDeps) {
  const { consoleForms } = deps.service.limiters;
  return async (request: FastifyRequest): Promise<void> => {
    const { allowed, resetSeconds } = await consoleForms.take(networkOf(request.ip));
    if (allowed) return;
    const device = deviceOf(request, deps);
    if (device !== null && (await consoleForms.take(`device ${device}`)).allowed) return;
    throw new ApiError('request_rate_exceeded', { retryAfterSeconds: resetSeconds });
  };
}
