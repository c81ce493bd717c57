import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendShared } from '../../platform/network/shared-body.ts';
import type { Site, SiteFile } from './site.ts';

/** URLs that don't name a file. */
const PAGES = {
  '/': '/index.html',
  '/sw': '/sw.html',
  '/app': '/app.html',
  '/app/*': '/app.html',
} as const;

export type PageHeaders = Readonly<Record<string, string>>;

/** Serves the pages and their assets. The API's own routes get no extra headers. */
export function siteRoutes(app: FastifyInstance, site: Site, headers: PageHeaders): void {
  function serve(address: string, file: SiteFile): void {
    app.get(address, (request, reply) => sendFile(request, reply, { file, headers }));
  }
  for (const [address, file] of site) {
    if (!address.endsWith('.html')) serve(address, file);
  }
  for (const [address, name] of Object.entries(PAGES)) {
    const file = site.get(name);
    if (file !== undefined) serve(address, file);
  }
}

/** The headers of every HTML page. */
export function pageHeaders(options: { streamOrigins: string; https: boolean }): PageHeaders {
  return {
    'content-security-policy': contentSecurityPolicy(options.streamOrigins),
    'referrer-policy': 'no-referrer',
    'permissions-policy': 'microphone=(self), camera=(), geolocation=()',
    'cross-origin-opener-policy': 'same-origin',
    ...(options.https ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
}

/** Only our own script and style files: nothing inline, no other hosts, no framing. */
function contentSecurityPolicy(streamOrigins: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "media-src 'self'",
    `connect-src 'self' ${streamOrigins}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, headers }: { file: SiteFile; headers: PageHeaders },
): Promise<FastifyReply> {
  if (file.type.startsWith('text/html')) void reply.headers(headers);
  void reply
    .type(file.type)
    .header('cross-origin-resource-policy', 'same-origin')
    .header('cache-control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  return sendShared(reply, await file.body(), request);
}
