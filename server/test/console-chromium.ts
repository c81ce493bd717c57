import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '@svc-asr/engine';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { makeCertificate } from './certificate.ts';
import { startConsoleService, type ConsoleService } from './console-service.ts';
import { freePort } from '../src/free-port.ts';

export { launchChromium } from './chromium.ts';

const SITE = join(import.meta.dirname, '../../console/dist/site/index.html');

/** The console as people meet it: built pages, HTTPS, WSS, and mail that arrives. */
export async function startConsoleSite(options: { engine?: Engine } = {}): Promise<ConsoleService> {
  if (!existsSync(SITE)) throw new Error('The console is not built: run `npm run build` first.');
  const { certFile, keyFile } = await makeCertificate();
  const port = String(await freePort());
  return startConsoleService({
    env: {
      PORT: port,
      HOST: 'localhost',
      PUBLIC_URL: `https://localhost:${port}`,
      PUBLIC_STREAM_URL: `wss://localhost:${port}`,
      TLS_CERT_FILE: certFile,
      TLS_KEY_FILE: keyFile,
    },
    ...(options.engine === undefined ? {} : { parts: { engine: options.engine } }),
  });
}

/** Types the address, reads the mail, types the code. */
export async function signInAs(page: Page, input: { service: ConsoleService; email: string }) {
  const { service, email } = input;
  await page.goto(`${service.url}/app`);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByRole('button', { name: 'Send me a code' }).click();
  await page.getByLabel('Code').fill(await service.mail.takeCode(email));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

export interface WatchedPage {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser complained about: errors, and whatever the page's own policy forbade. */
  readonly complaints: string[];
}

export async function openPage(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    locale: 'en-GB',
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // Chromium reports every refused request; refusals are part of some journeys.
    const refused = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !refused) complaints.push(message.text());
  });
  return { context, page, complaints };
}
