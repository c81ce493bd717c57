import { readFileSync } from 'node:fs';
import { trimSlashes } from '@svc-asr/protocol/trim-slashes.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../platform/api-error.ts';
import type { Site } from './site.ts';
import { sendFile, type PageHeaders } from './site-routes.ts';

/** A short summary of the contract for language models, for processes without the built documentation. */
const LLMS = new URL('../../../../../llms.txt', import.meta.url);
const REFERENCE = '/docs/reference/http';

/** Serves the documentation: /docs, /changelog, /status and the files for language models. */
export function docsRoutes(app: FastifyInstance, docs: Site, headers: PageHeaders): void {
  const isBuilt = docs.size > 0;
  app.get('/reference', (_request, reply) =>
    reply.redirect(isBuilt ? REFERENCE : '/openapi.json', isBuilt ? 308 : 302),
  );
  if (!isBuilt) {
    const llms = readFileSync(LLMS, 'utf8');
    app.get('/llms.txt', (_request, reply) => reply.type('text/plain; charset=utf-8').send(llms));
    return;
  }
  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const [path = '', query] = request.url.split('?');
    const file = docs.get(path.endsWith('.html') ? '' : path) ?? docs.get(`${path}/index.html`);
    if (file !== undefined) return sendFile(request, reply, { file, headers });
    const bare = trimSlashes(path);
    if (bare !== path && docs.has(`${bare}/index.html`)) {
      return reply.redirect(query === undefined ? bare : `${bare}?${query}`, 308);
    }
    return notFound(request, reply);
  }
  /** People get a page with the search, programs get the error of the API. */
  async function notFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const file = docs.get('/404.html');
    const wantsPage = request.headers.accept?.includes('text/html') === true;
    if (file === undefined || !wantsPage) throw new ApiError('route_not_found');
    return sendFile(request, reply.code(404), { file, headers });
  }
  for (const address of [
    '/docs',
    '/docs/*',
    '/docs.md',
    '/changelog',
    '/changelog/',
    '/changelog.md',
    '/status',
    '/status/',
    '/llms.txt',
    '/llms-full.txt',
  ]) {
    app.get(address, answer);
  }
}
