import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asyncApiDocument } from '@svc-asr/protocol/asyncapi.ts';
import { openApiDocument } from '@svc-asr/protocol/openapi.ts';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';

let svc: Service;
let browser: Browser;
beforeAll(async () => {
  svc = await startService();
  browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
});
afterAll(async () => {
  await browser.close();
  await svc.stop();
});

test('the documents are served as they are published', async () => {
  expect((await svc.request('/openapi.json')).body).toEqual(
    JSON.parse(JSON.stringify(openApiDocument())),
  );
  expect((await svc.request('/asyncapi.json')).body).toEqual(
    JSON.parse(JSON.stringify(asyncApiDocument())),
  );
});

test.each(['light', 'dark'] as const)(
  'the reference page shows every endpoint in %s, contacts no other host and violates no policy',
  async (colorScheme) => {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1_280, height: 900 } });
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${svc.url}/reference`);
    for (const text of ['List the models', 'Create a streaming session', 'Get the balance']) {
      await page.getByText(text).first().waitFor();
    }
    const screenshot = process.env['REFERENCE_SCREENSHOT'];
    if (screenshot !== undefined)
      await page.screenshot({ path: `${screenshot}-${colorScheme}.png` });
    expect(asked.filter((url) => !url.startsWith(svc.url) && !/^(data|blob):/.test(url))).toEqual(
      [],
    );
    expect(complaints).toEqual([]);
    await page.close();
  },
);

test('/llms.txt summarises the contract', async () => {
  const response = await fetch(`${svc.url}/llms.txt`);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await response.text()).toContain('POST /v1/asr/sessions');
});

async function encodingFor(accepted: string): Promise<string | null> {
  const response = await fetch(`${svc.url}/reference/js/scalar.js`, {
    headers: { 'accept-encoding': accepted },
  });
  expect((await response.text()).length).toBeGreaterThan(1_000_000);
  expect(response.headers.get('vary')).toBe('accept-encoding');
  return response.headers.get('content-encoding');
}

test('the script is sent in the smallest encoding that the client accepts', async () => {
  expect(await encodingFor('gzip, deflate, br')).toBe('br');
  expect(await encodingFor('gzip')).toBe('gzip');
  expect(await encodingFor('gzip;q=0, br;q=0')).toBe(null);
  expect(await encodingFor('identity')).toBe(null);
});
