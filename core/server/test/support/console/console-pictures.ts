import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** If set to a folder, tests save screenshots there. */
export const PICTURES = process.env['CONSOLE_PICTURES'];

/** Shows the whole page, unless the page's own layout follows the height of the window. */
export async function takePicture(
  page: Page,
  name: string,
  shows: 'page' | 'window' = 'page',
): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  const viewport = page.viewportSize();
  const hasDialog = (await page.locator('dialog').count()) > 0;
  // A full-page screenshot would misplace what has a fixed position, so the window becomes as high as the page.
  if (shows === 'page' && !hasDialog && viewport !== null) {
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    await page.setViewportSize({ ...viewport, height: Math.max(height, viewport.height) });
    await page.evaluate('scrollTo(0, 0)');
  }
  // Elements that are still fading in would be missing.
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled' });
  if (viewport !== null) await page.setViewportSize(viewport);
}

export const DEVICES = {
  desktop: { viewport: { width: 1280, height: 860 }, deviceScaleFactor: 1 },
  tablet: { viewport: { width: 1024, height: 768 }, deviceScaleFactor: 1 },
  phone: { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true },
} as const;

/** Takes all variants of a state that occurs only once, by resizing and recolouring the page. */
export async function takePicturesOfEveryLook(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  for (const device of ['phone', 'tablet', 'desktop'] as const) {
    await page.setViewportSize(DEVICES[device].viewport);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await takePicture(page, `${name}-${device}-${colorScheme}`);
    }
  }
}
