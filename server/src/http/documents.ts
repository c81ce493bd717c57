import { readFileSync } from 'node:fs';
import { asyncApiDocument } from '@svc-asr/protocol/asyncapi.ts';
import { openApiDocument } from '@svc-asr/protocol/openapi.ts';
import type { FastifyInstance } from 'fastify';
import { sendShared } from '../platform/shared-body.ts';
import { renderReference, type Reference } from './reference.ts';

/** A short summary of the contract for language models. */
const LLMS = new URL('../../../llms.txt', import.meta.url);

/** Serves the OpenAPI and AsyncAPI documents and the reference page. */
export function documentRoutes(app: FastifyInstance): void {
  const openApi = JSON.stringify(openApiDocument());
  const asyncApi = JSON.stringify(asyncApiDocument());
  app.get('/openapi.json', (_request, reply) => reply.type('application/json').send(openApi));
  app.get('/asyncapi.json', (_request, reply) => reply.type('application/json').send(asyncApi));

  const llms = readFileSync(LLMS, 'utf8');
  app.get('/llms.txt', (_request, reply) => reply.type('text/plain; charset=utf-8').send(llms));

  // Four megabytes of script, loaded and compressed on the first request.
  let rendered: Promise<Reference> | undefined;
  const reference = () => (rendered ??= renderReference());
  app.get('/reference', async (_request, reply) => {
    const { page, contentSecurityPolicy } = await reference();
    void reply.header('content-security-policy', contentSecurityPolicy);
    return reply.type('text/html; charset=utf-8').send(page);
  });
  app.get('/reference/js/scalar.js', async (request, reply) => {
    const { script } = await reference();
    void reply.header('cache-control', 'public, max-age=3600');
    return sendShared(reply.type('text/javascript; charset=utf-8'), script, request);
  });
}
