import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { openPage, startConsoleInChromium } from '../support/console-chromium.ts';

/** Page weight on a cheap phone on 3G: 700 kbit/s, 300 ms round trips, a CPU four times slower. */

const THREE_G = { latency: 300, downloadThroughput: 87_500, uploadThroughput: 87_500 };

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);

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
  // Waits for the first paint before tapping.
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

test('the public page is under 16 kB and responds to a tap on a cheap phone over 3G', async () => {
  const weight = await weigh('/', async (page) => {
    // The validation message proves that the form's script has run.
    const join = page.getByRole('button', { name: 'Join the waitlist' });
    await expect
      .poll(
        async () => {
          await join.click();
          return page.getByText('Enter an email address').isVisible();
        },
        { interval: 20 },
      )
      .toBe(true);
  });
  console.log('public page on 3G', JSON.stringify(weight));
  expect(weight.bytes).toBeLessThan(16_000);
  expect(weight.requests).toBeLessThanOrEqual(6);
});

test('the console is under 110 kB up to its sign-in', async () => {
  const weight = await weigh('/app', (page) =>
    page.getByLabel('Email address').fill('a@b.example'),
  );
  console.log('console on 3G', JSON.stringify(weight));
  expect(weight.bytes).toBeLessThan(110_000);
});
