import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  addSession,
  openContext,
  openTab,
  startConsoleInChromium,
} from '../support/console/console-chromium.ts';
import { fillAccount } from '../support/console/console-history.ts';
import { DEVICES } from '../support/console/console-pictures.ts';
import { SHOWN_PAGES } from '../support/console/docs-pages.ts';

/** On a slow phone no page moves under the thumb while it loads. */

const SHIFT_MAX = 0.05;
/** A busy cell in the country. */
const SLOW = { downloadThroughput: 700_000 / 8, uploadThroughput: 256_000 / 8, latency: 100 };

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);

/** Adds up every shift that no input caused. It runs before the page's own scripts. */
const WATCH = `globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (!hadRecentInput) shifts.push({ value, moved: sources.map(({ node }) => node?.className ?? node?.nodeName) });
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

async function shiftOf(
  path: string,
  email: string | null = null,
): Promise<{ total: number; moved: string }> {
  const context = await openContext(browser, DEVICES.phone);
  const { page } = await openTab(context);
  if (email !== null) await addSession(page, { service, email });
  await page.addInitScript(WATCH);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', { offline: false, ...SLOW });
  await page.goto(service.url + path);
  await page.locator('h1').first().waitFor();
  await page.waitForLoadState('networkidle');
  // Shifts are reported after the frame in which they happen.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  );
  const shifts = await page.evaluate<{ value: number; moved: string[] }[]>('shifts');
  await context.close();
  const total = shifts.reduce((sum, { value }) => sum + value, 0);
  return { total, moved: JSON.stringify(shifts) };
}

test.each(['/', '/sw', ...SHOWN_PAGES])('%s stays still while it loads', async (path) => {
  const { total, moved } = await shiftOf(path);
  expect(total, moved).toBeLessThan(SHIFT_MAX);
});

describe('signed in', () => {
  beforeAll(async () => {
    await fillAccount(service, await service.admit('still@example.com'));
  });
  const SCREENS = [
    '/app',
    '/app/sessions',
    '/app/usage',
    '/app/log',
    '/app/credit',
    '/app/keys',
    '/app/playground',
    '/app/settings',
  ];
  test.each(SCREENS)('%s stays still while it loads', async (path) => {
    const { total, moved } = await shiftOf(path, 'still@example.com');
    expect(total, moved).toBeLessThan(SHIFT_MAX);
  });
});
