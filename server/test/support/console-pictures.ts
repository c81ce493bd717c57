import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** If set to a folder, tests save screenshots there. */
export const PICTURES = process.env['CONSOLE_PICTURES'];

export async function takePicture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  // The tab bar on phones and dialogs have fixed positions, which would be misplaced in a full-page screenshot.
  const hanging = name.includes('phone') || (await page.locator('dialog').count()) > 0;
  const fullPage = !hanging || name.startsWith('public');
  // Elements that are still fading in would be missing.
  await page.screenshot({
    path: join(PICTURES, `${name}.png`),
    fullPage,
    animations: 'disabled',
  });
}

export const DEVICES = {
  desktop: { viewport: { width: 1280, height: 860 }, deviceScaleFactor: 1 },
  phone: { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true },
} as const;

/** Takes all variants of a state that occurs only once, by resizing and recolouring the page. */
export async function takePicturesOfEveryLook(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  for (const device of ['phone', 'desktop'] as const) {
    await page.setViewportSize(DEVICES[device].viewport);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await takePicture(page, `${name}-${device}-${colorScheme}`);
    }
  }
}
