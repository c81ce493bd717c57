import { createHash } from 'node:crypto';
import Fastify from 'fastify';
import { compressBody, type SharedBody } from '../platform/shared-body.ts';

/** The API reference page and its script. Nothing on the page comes from, or goes to, another host. */
export interface Reference {
  readonly page: string;
  readonly script: SharedBody;
  readonly contentSecurityPolicy: string;
}

/** Scalar is only available as a plugin that contains its script, so we fetch it once from a separate app. */
export async function renderReference(): Promise<Reference> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = Fastify();
  await app.register(scalar, {
    routePrefix: '/reference',
    configuration: {
      url: '/openapi.json',
      cdn: '/reference/js/scalar.js',
      pageTitle: 'API reference: speech recognition for Kikuyu and Dholuo',
      // Each of these would send a request to another host.
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
      // A permanent key does not belong in a browser, so the page does not ask for one.
      hideTestRequestButton: true,
      defaultOpenAllTags: true,
      hideModels: true,
    },
  });
  const { body: bare } = await app.inject('/reference/');
  const page = bare.replace('</head>', '<link rel="icon" href="data:," /></head>');
  const { rawPayload } = await app.inject('/reference/js/scalar.js');
  await app.close();
  const script = await compressBody(rawPayload);
  return { page, script, contentSecurityPolicy: policyFor(page) };
}

/** Scripts: our own, and the inline one of exactly this page. */
function policyFor(page: string): string {
  const inline = page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g);
  const hashes = [...inline].map(([, script = '']) => {
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
