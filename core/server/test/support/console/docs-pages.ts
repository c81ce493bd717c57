import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { colourViolations, violations } from './console-axe.ts';
import { openTab } from './console-chromium.ts';
import { layoutMistakes, MOVING_ROWS, OVERFLOW } from './console-layout.ts';
import { DEVICES, takePicturesOfEveryLook } from './console-pictures.ts';

const SITE = join(import.meta.dirname, '../../../../../web/site/dist/site');

/** The addresses of all pages of the built documentation. */
export async function docsPages(): Promise<string[]> {
  const files = await readdir(SITE, { recursive: true });
  const pages = files
    .filter((file) => file.endsWith('/index.html'))
    .map((file) => `/${file.slice(0, -'/index.html'.length)}`)
    .toSorted();
  if (pages.length === 0) throw new Error('The documentation has no pages.');
  return pages;
}

/** Pages with each layout and element of the design. */
export const SHOWN_PAGES = [
  '/docs',
  '/docs/start/quickstart',
  '/docs/concepts/sessions-and-credit',
  '/docs/guides/browser',
  '/docs/guides/telephony',
  '/docs/streaming',
  '/docs/reference/http',
  '/docs/reference/stream',
  '/docs/errors',
  '/docs/packages/sdk',
  '/docs/models/model-card',
  '/docs/configuration',
  '/changelog',
  '/status',
] as const;

/**
 * Opens a page of the documentation and returns its problems: axe violations, colours and overflow on
 * both devices and in both themes, rows that move while a phone loads them, errors, and requests to other hosts.
 */
export async function docsProblems(
  context: BrowserContext,
  input: { url: string; path: string },
): Promise<string[]> {
  const { page, complaints } = await openTab(context);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.setViewportSize(DEVICES.desktop.viewport);
  const response = await page.goto(input.url + input.path);
  if (input.path === '/status') await page.locator('.status-list li').first().waitFor();
  const problems = response?.status() === 200 ? [] : [`status ${response?.status()}`];
  problems.push(...(await violations(page)));
  for (const device of ['desktop', 'phone'] as const) {
    await page.setViewportSize(DEVICES[device].viewport);
    problems.push(...(await layoutMistakes(page, [OVERFLOW])));
    if (device === 'phone') problems.push(...(await layoutMistakes(page, [MOVING_ROWS])));
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      problems.push(...(await colourViolations(page)));
    }
  }
  const name = input.path.replace('/docs', '').replaceAll('/', '-');
  await takePicturesOfEveryLook(page, `docs${name}`);
  await page.close();
  return [...problems, ...complaints, ...asked.filter((url) => !url.startsWith(input.url))];
}
