import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from './console-axe.ts';
import { layoutMistakes, OVERFLOWING_CARDS } from './console-layout.ts';
import { takePicturesOfEveryLook } from './console-pictures.ts';

/** Checks that the page is accessible and its cards hold their content, and takes its pictures if they are wanted. */
export async function seen(page: Page, name: string): Promise<void> {
  expect(await violations(page)).toEqual([]);
  expect(await layoutMistakes(page, [OVERFLOWING_CARDS])).toEqual([]);
  await takePicturesOfEveryLook(page, name);
}
