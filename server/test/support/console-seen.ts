import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from './console-axe.ts';
import { takePicturesOfEveryLook } from './console-pictures.ts';

/** Checks that the page is accessible, and takes its pictures if they are wanted. */
export async function seen(page: Page, name: string): Promise<void> {
  expect(await violations(page)).toEqual([]);
  await takePicturesOfEveryLook(page, name);
}
