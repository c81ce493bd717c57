import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium, openPage, startConsoleSite } from './console-chromium.ts';
import type { ConsoleService } from './console-service.ts';

/** How heavy the pages are for a cheap phone on 3G: 700 kbit/s, 300 ms a round trip, a processor four times slower. */

const THREE_G = { latency: 300, downloadThroughput: 87_500, uploadThroughput: 87_500 };

let service: ConsoleService;
let browser: Browser;
beforeAll(async () => {
  [service, browser] = await Promise.all([startConsoleSite(), launchChromium()]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

interface Weight {
  readonly bytes: number;
  readonly requests: number;
  readonly firstPaintMs: number;
  readonly interactiveMs: number;
}

async function weigh(path: string, interactive: (page: Page) => Promise<unknown>): Promise<Weight> {
  const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true };
  const { page, context } = await openPage(browser, phone);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', { offline: false, ...THREE_G });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  let bytes = 0;
  let requests = 0;
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  const began = performance.now();
  await page.goto(service.url + path, { waitUntil: 'commit' });
  // Nobody taps what is not painted yet.
  const painted = (): Promise<boolean> => page.evaluate(`${FIRST_PAINT} !== undefined`);
  await expect.poll(painted, { interval: 20 }).toBe(true);
  await interactive(page);
  const interactiveMs = Math.round(performance.now() - began);
  await page.waitForLoadState('networkidle');
  const firstPaintMs = Math.round(await page.evaluate<number>(`${FIRST_PAINT}.startTime`));
  await context.close();
  return { bytes, requests, firstPaintMs, interactiveMs };
}

const FIRST_PAINT = `performance.getEntriesByName('first-contentful-paint')[0]`;

test('the public page weighs less than 16 kB and answers a tap, on a cheap phone over 3G', async () => {
  const weight = await weigh('/', async (page) => {
    // The form's own script has run when it says what is missing.
    const join = page.getByRole('button', { name: 'Join the waitlist' });
    await expect
      .poll(
        async () => {
          await join.click();
          return page.getByText('Enter an e-mail address').isVisible();
        },
        { interval: 20 },
      )
      .toBe(true);
  });
  console.log('public page on 3G', JSON.stringify(weight));
  expect(weight.bytes).toBeLessThan(16_000);
  expect(weight.requests).toBeLessThanOrEqual(6);
}, 60_000);

test('the console up to its sign-in weighs less than 95 kB', async () => {
  const weight = await weigh('/app', (page) =>
    page.getByLabel('E-mail address').fill('a@b.example'),
  );
  console.log('console on 3G', JSON.stringify(weight));
  expect(weight.bytes).toBeLessThan(95_000);
}, 60_000);
