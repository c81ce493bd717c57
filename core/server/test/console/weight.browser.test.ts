import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { openPage, startConsoleInChromium } from '../support/console/console-chromium.ts';

/** What a page costs a cheap phone on a slow network: bytes, files, files that delay the first paint, and CPU time. */

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);

interface Weight {
  readonly bytes: number;
  readonly requests: number;
  /** Files that must arrive before the first paint. */
  readonly blocking: number;
  /** CPU time of the main thread, which other processes of this machine don't change. */
  readonly cpuMs: number;
}

const BLOCKING = `performance.getEntriesByType('resource')
  .filter(({ renderBlockingStatus }) => renderBlockingStatus === 'blocking').length`;

async function weigh(path: string, use: (page: Page) => Promise<unknown>): Promise<Weight> {
  const { page, context } = await openPage(browser);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  let bytes = 0;
  let requests = 0;
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  await page.goto(service.url + path);
  await use(page);
  await page.waitForLoadState('networkidle');
  const blocking = await page.evaluate<number>(BLOCKING);
  const { metrics } = await devtools.send('Performance.getMetrics');
  const busy = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Infinity;
  await context.close();
  return { bytes, requests, blocking, cpuMs: Math.round(busy * 1_000) };
}

test('the public page is under 17 kB, paints after one more file and needs under 400 ms of CPU time', async () => {
  const weight = await weigh('/', async (page) => {
    // The validation message proves that the form's script has run.
    await page.getByRole('button', { name: 'Join the waitlist' }).click();
    await page.getByText('Enter an email address').waitFor();
  });
  console.log('public page', JSON.stringify(weight));
  expect(weight.bytes).toBeLessThan(17_000);
  expect(weight.requests).toBeLessThanOrEqual(6);
  expect(weight.blocking).toBeLessThanOrEqual(1);
  expect(weight.cpuMs).toBeLessThan(400);
});

test('the console is under 110 kB up to its sign-in and needs under 400 ms of CPU time', async () => {
  const weight = await weigh('/app', (page) =>
    page.getByLabel('Email address').fill('a@b.example'),
  );
  console.log('console', JSON.stringify(weight));
  expect(weight.bytes).toBeLessThan(110_000);
  expect(weight.blocking).toBeLessThanOrEqual(1);
  expect(weight.cpuMs).toBeLessThan(400);
});
