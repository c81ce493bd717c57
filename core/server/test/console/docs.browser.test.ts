import { afterAll, expect, test } from 'vitest';
import { violations } from '../support/console/console-axe.ts';
import {
  openContext,
  openPage,
  startConsoleInChromium,
} from '../support/console/console-chromium.ts';
import { DEVICES, takePicture } from '../support/console/console-pictures.ts';
import { docsProblems, SHOWN_PAGES } from '../support/console/docs-pages.ts';

const FIRST_LOAD_MAX_BYTES = 100_000;
const SEARCH_MAX_MS = 50;

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);
const context = await openContext(browser, { reducedMotion: 'reduce' });

test.each(SHOWN_PAGES)(
  '%s passes axe and fits on both devices and in both themes, and contacts no other host',
  async (path) => {
    expect(await docsProblems(context, { url: service.url, path })).toEqual([]);
  },
);

test('the first load of each main page is under 100 kB', async () => {
  const weights = Object.fromEntries(
    await Promise.all(SHOWN_PAGES.map(async (path) => [path, await firstLoadBytes(path)] as const)),
  );
  console.log('first load in bytes', JSON.stringify(weights));
  expect(Object.entries(weights).filter(([, bytes]) => bytes > FIRST_LOAD_MAX_BYTES)).toEqual([]);
});

/** Loads a page without a cache and returns what crossed the network until it was idle. */
async function firstLoadBytes(path: string): Promise<number> {
  const { page, context } = await openPage(browser);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  let bytes = 0;
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.goto(service.url + path, { waitUntil: 'networkidle' });
  await context.close();
  return bytes;
}

test('the search answers within 50 ms and leads to the section', async () => {
  const { page, context, complaints } = await openPage(browser);
  await page.goto(`${service.url}/docs`);
  await page.keyboard.press('/');
  const input = page.getByRole('combobox');
  await input.fill('close code');
  await page.getByRole('option').first().waitFor();
  const queries = ['flush', 'retry after', 'endpointing silence', 'flush_throttled', 'postgres'];
  const took: Record<string, number> = {};
  for (const query of queries) {
    const times: number[] = [];
    for (let run = 0; run < 5; run += 1) times.push(await page.evaluate<number>(timeSearch(query)));
    // The fastest: the others waited for other processes of this machine.
    took[query] = Math.min(...times);
    expect(await page.getByRole('option').count()).toBeGreaterThan(0);
  }
  console.log('search in ms', JSON.stringify(took));
  expect(Object.entries(took).filter(([, ms]) => ms > SEARCH_MAX_MS)).toEqual([]);
  expect(await violations(page)).toEqual([]);
  await takePicture(page, 'docs-search-desktop-light');
  await input.fill('flush_throttled');
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/docs\/.+/);
  expect(complaints).toEqual([]);
  await context.close();
});

/** Measures from the keystroke to the changed list, in the page's own time. */
function timeSearch(query: string): string {
  return `new Promise((resolve) => {
    const input = document.querySelector('.search input');
    const list = document.querySelector('#search-results');
    const began = performance.now();
    new MutationObserver((_, observer) => {
      observer.disconnect();
      resolve(performance.now() - began);
    }).observe(list, { childList: true });
    input.value = ${JSON.stringify(query)};
    input.dispatchEvent(new Event('input'));
  })`;
}

test('a chosen language is remembered on other pages', async () => {
  const { page, context } = await openPage(browser);
  await page.goto(`${service.url}/docs/reference/http`);
  const tabs = page.getByRole('tab', { name: 'Python' });
  await tabs.first().click();
  await page.goto(`${service.url}/docs/start/quickstart`);
  await page.goto(`${service.url}/docs/reference/http`);
  expect(await tabs.first().getAttribute('aria-selected')).toBe('true');
  await context.close();
});

test('a block of code and a whole page can be copied', async () => {
  const { page, context } = await openPage(browser, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.goto(`${service.url}/docs/start/quickstart`);
  const clipboard = (): Promise<string> => page.evaluate('navigator.clipboard.readText()');
  const shown = await page.locator('.code-block pre').first().textContent();
  await page.getByRole('button', { name: 'Copy', exact: true }).first().click();
  await page.getByText('Copied').waitFor();
  expect(await clipboard()).toBe(shown);
  await page.getByRole('button', { name: 'Copy page' }).click();
  await expect.poll(clipboard).toMatch(/^# /);
  await context.close();
});

test('the theme button changes the theme, and the console follows it', async () => {
  const { page, context } = await openPage(browser, { colorScheme: 'light' });
  await page.goto(`${service.url}/docs`);
  const theme = page.getByRole('button', { name: /^Theme/ });
  await theme.click();
  await theme.click();
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  await page.goto(`${service.url}/`);
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
  await context.close();
});

test('the status page shows the probes of the running service', async () => {
  const { page, context } = await openPage(browser);
  await page.goto(`${service.url}/status`);
  await page.getByText('All systems operational').waitFor();
  expect(await page.locator('.status-list li').count()).toBe(4);
  await context.close();
});

test('examples name the address of the page, and the menu tells users of the API from operators', async () => {
  const { page, context } = await openPage(browser);
  await page.goto(`${service.url}/docs/start/quickstart`);
  const address = page.locator('pre', { hasText: 'SVC_BASE_URL=' }).first();
  expect(await address.innerText()).toContain(`SVC_BASE_URL=${service.url}\n`);
  const menu = page.getByRole('navigation', { name: 'Documentation' });
  const text = await menu.innerText();
  expect(text.indexOf('Use the API')).toBeLessThan(text.indexOf('Guides'));
  expect(text.indexOf('Run it yourself')).toBeGreaterThan(text.indexOf('Reference'));
  expect(text.indexOf('Run it yourself')).toBeLessThan(text.indexOf('Operate'));
  await page.goto(`${service.url}/docs/reference/http`);
  await page.getByText(`Base URL: ${service.url}`).waitFor();
  await context.close();
});

test('a phone shows whole sequence diagrams', async () => {
  const { page, context } = await openPage(browser, DEVICES.phone);
  await page.goto(`${service.url}/docs/reference/stream`);
  await page.locator('.diagram').first().waitFor();
  const cut =
    'Array.from(document.querySelectorAll(".diagram"), (one) => one.scrollWidth - one.clientWidth)';
  expect(await page.evaluate(cut)).toEqual([0, 0, 0]);
  await context.close();
});

test('without JavaScript every tab shows and the sidebar can be used', async () => {
  const options = { ...DEVICES.phone, javaScriptEnabled: false };
  const { page, context } = await openPage(browser, options);
  await page.goto(`${service.url}/docs/reference/http`);
  const panels = page.locator('[role="tabpanel"]');
  for (const panel of await panels.all()) expect(await panel.isVisible()).toBe(true);
  expect(await page.getByRole('link', { name: 'Changelog' }).first().isVisible()).toBe(true);
  await context.close();
});
