import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accepts } from '../../platform/network/shared-body.ts';

/** Smaller answers fit into one packet anyway. */
const WORTHWHILE_BYTES = 1_024;

/**
 * Compresses lists and tables. Only of GET requests: a secret, such as a new key, is only in the response of a POST, and
 * its compressed length could reveal it.
 */
export async function compressAnswers(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (request.method !== 'GET' || typeof payload !== 'string') return payload;
  if (payload.length < WORTHWHILE_BYTES) return payload;
  void reply.header('vary', 'accept-encoding');
  if (!accepts('gzip', request.headers['accept-encoding'] ?? '')) return payload;
  const compressed = await promisify(gzip)(payload);
  void reply.header('content-encoding', 'gzip').removeHeader('content-length');
  return compressed;
}
