import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** Set it to a folder, and the tests leave pictures of what they saw for people to look at. */
export const PICTURES = process.env['CONSOLE_PICTURES'];

export async function takePicture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  // A phone's bar of tabs hangs over whatever is there: a whole page would show it in mid-air.
  const fullPage = !name.includes('phone') || name.startsWith('public');
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage });
}
