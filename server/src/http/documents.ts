import { createHash } from 'node:crypto';
import scalar from '@scalar/fastify-api-reference';
import { asyncApiDocument } from '@svc-asr/protocol/asyncapi.ts';
import { openApiDocument } from '@svc-asr/protocol/openapi.ts';
import type { FastifyInstance } from 'fastify';

/** The contract in machine-readable form, and a page that shows it. Nothing on the page comes from another host. */
export function documentRoutes(app: FastifyInstance): void {
  const openApi = JSON.stringify(openApiDocument());
  const asyncApi = JSON.stringify(asyncApiDocument());
  app.get('/openapi.json', (_request, reply) => reply.type('application/json').send(openApi));
  app.get('/asyncapi.json', (_request, reply) => reply.type('application/json').send(asyncApi));
  void app.register(referencePage);
}

async function referencePage(app: FastifyInstance): Promise<void> {
  app.addHook('onSend', async (_request, reply, payload) => {
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
    if (isPage) void reply.header('content-security-policy', policyFor(String(payload)));
    else void reply.header('cache-control', 'public, max-age=3600');
  });
  await app.register(scalar, {
    routePrefix: '/reference',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'API reference: speech recognition for Kikuyu and Dholuo',
      // Each of these would fetch something from, or tell something to, another host.
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
    },
  });
}

/** Scripts: ours, and the inline ones of exactly this page. */
function policyFor(page: string): string {
  const inline = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)];
  const hashes = inline.map(([, script = '']) => {
    const hash = createHash('sha256').update(script).digest('base64');
    return `'sha256-${hash}'`;
  });
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
