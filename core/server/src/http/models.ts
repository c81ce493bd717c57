import { MODEL_LIST } from '@svc-asr/protocol';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { networkOf } from '@svc-asr/runtime/network.ts';
import { limitRate } from './guard.ts';

/** GET /v1/models. Public; every client gets the same response. */
export function modelRoutes(app: FastifyInstance, deps: Deps): void {
  const onRequest = limitRate('models', deps.limiters.models, (request) => networkOf(request.ip));
  app.get('/v1/models', { onRequest }, () => MODEL_LIST);
}
