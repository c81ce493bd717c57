import { asyncApiDocument } from '@svc-asr/protocol/documents/asyncapi.ts';
import { openApiDocument } from '@svc-asr/protocol/documents/openapi.ts';
import type { FastifyInstance } from 'fastify';

/** Serves the OpenAPI and AsyncAPI documents. */
export function documentRoutes(app: FastifyInstance): void {
  const openApi = JSON.stringify(openApiDocument());
  const asyncApi = JSON.stringify(asyncApiDocument());
  app.get('/openapi.json', (_request, reply) => reply.type('application/json').send(openApi));
  app.get('/asyncapi.json', (_request, reply) => reply.type('application/json').send(asyncApi));
}
