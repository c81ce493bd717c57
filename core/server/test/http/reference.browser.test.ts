import { afterAll, beforeAll, expect, test } from 'vitest';
import { asyncApiDocument } from '@svc-asr/protocol/documents/asyncapi.ts';
import { openApiDocument } from '@svc-asr/protocol/documents/openapi.ts';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';

let svc: Service;
beforeAll(async () => {
  svc = await startService();
});
afterAll(() => svc.stop());

test('the documents are served as they are published', async () => {
  expect((await svc.request('/openapi.json')).body).toEqual(
    JSON.parse(JSON.stringify(openApiDocument())),
  );
  expect((await svc.request('/asyncapi.json')).body).toEqual(
    JSON.parse(JSON.stringify(asyncApiDocument())),
  );
});

test('/reference leads to the HTTP reference of the documentation', async () => {
  const response = await fetch(`${svc.url}/reference`, { redirect: 'manual' });
  expect(response.status).toBe(308);
  expect(response.headers.get('location')).toBe('/docs/reference/http');
});

test('/llms.txt summarises the contract and lists the pages', async () => {
  const response = await fetch(`${svc.url}/llms.txt`);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const text = await response.text();
  expect(text).toContain('POST /v1/asr/sessions');
  expect(text).toContain('/docs/reference/stream.md');
});

async function encodingFor(accepted: string): Promise<string | null> {
  const response = await fetch(`${svc.url}/docs/search.json`, {
    headers: { 'accept-encoding': accepted },
  });
  expect((await response.text()).length).toBeGreaterThan(300_000);
  expect(response.headers.get('vary')).toBe('accept-encoding');
  return response.headers.get('content-encoding');
}

test('files are sent in the smallest encoding that the client accepts', async () => {
  expect(await encodingFor('gzip, deflate, br')).toBe('br');
  expect(await encodingFor('gzip')).toBe('gzip');
  expect(await encodingFor('gzip;q=0, br;q=0')).toBe(null);
  expect(await encodingFor('identity')).toBe(null);
});

test.each([
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/reference/stream', 'text/html; charset=utf-8'],
  ['/docs/reference/stream.md', 'text/markdown; charset=utf-8'],
  ['/docs/packages/sdk', 'text/html; charset=utf-8'],
  ['/changelog', 'text/html; charset=utf-8'],
  ['/status', 'text/html; charset=utf-8'],
  ['/llms-full.txt', 'text/plain; charset=utf-8'],
])('%s is served as %s', async (path, type) => {
  const response = await fetch(svc.url + path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe(type);
});

test("pages have the console's content security policy", async () => {
  const policies = await Promise.all(
    ['/app', '/docs', '/status'].map(async (path) => {
      const response = await fetch(svc.url + path);
      return response.headers.get('content-security-policy');
    }),
  );
  expect(new Set(policies).size).toBe(1);
  expect(policies[0]).toContain("script-src 'self';");
  expect(policies[0]).toContain("style-src 'self';");
  expect(policies[0]).toContain("trusted-types 'none'");
});

test('a slash at the end leads to the page without it', async () => {
  const response = await fetch(`${svc.url}/docs/errors/?a=b`, { redirect: 'manual' });
  expect(response.headers.get('location')).toBe('/docs/errors?a=b');
});

test('an unknown page is 404: a page for browsers, the error of the API for programs', async () => {
  const page = await fetch(`${svc.url}/docs/nowhere`, { headers: { accept: 'text/html' } });
  expect(page.status).toBe(404);
  expect(await page.text()).toContain('Page not found');
  const { status, body } = await svc.request('/docs/nowhere');
  expect(status).toBe(404);
  expect(body.error.code).toBe('route_not_found');
});

test.each([
  '/docs/../package.json',
  '/docs/%2e%2e/package.json',
  '/docs//errors',
  '/docs/errors/index.html',
])('%s names no file', async (path) => {
  const { status } = await svc.request(path);
  expect(status).toBe(404);
});
