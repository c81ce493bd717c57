import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../platform/api-error.ts';

/** Tells a client that waits for it to send its body, after every check that needs no body. */
export async function continueWithBody(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { expect, 'content-length': length = '0' } = request.headers;
  if (Number(length) > (request.routeOptions.bodyLimit ?? Infinity)) {
    throw new ApiError('request_too_large');
  }
  const isWaiting = expect?.toLowerCase() === '100-continue';
  if (isWaiting && request.raw.httpVersion === '1.1') reply.raw.writeContinue();
}
