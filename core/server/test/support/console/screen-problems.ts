import type { Page } from 'playwright-core';
import { colourViolations, violations } from './console-axe.ts';
import {
  BROKEN_ADDRESSES,
  BROKEN_WORDS,
  layoutMistakes,
  LONELY_BUTTONS,
  OVERFLOW,
  OVERFLOWING_CARDS,
  TIGHT_DIALOGS,
} from './console-layout.ts';
import { DEVICES, takePicturesOfEveryLook } from './console-pictures.ts';
import type { Scene } from './console-scenes.ts';

const FITS = [OVERFLOW, OVERFLOWING_CARDS];

/** How a screen is opened before `screenProblems`. */
export const FIRST_LOOK = { ...DEVICES.desktop, colorScheme: 'light' } as const;

/** A screen passes axe and fits on a desktop and a tablet, and has good colours and fits on a phone in the dark theme. */
export async function screenProblems(page: Page, { name }: Scene): Promise<string[]> {
  const onDesktop = [
    ...(await layoutMistakes(page, [...FITS, BROKEN_ADDRESSES, BROKEN_WORDS, TIGHT_DIALOGS])),
    ...(await violations(page)),
  ];
  await page.setViewportSize(DEVICES.tablet.viewport);
  const onTablet = await layoutMistakes(page, [...FITS, BROKEN_WORDS]);
  await page.setViewportSize(DEVICES.phone.viewport);
  await page.emulateMedia({ colorScheme: 'dark' });
  const onPhone = [
    ...(await layoutMistakes(page, [...FITS, LONELY_BUTTONS, TIGHT_DIALOGS])),
    ...(await colourViolations(page)),
  ];
  await takePicturesOfEveryLook(page, name);
  return [
    ...onDesktop,
    ...onTablet.map((problem) => `on a tablet: ${problem}`),
    ...onPhone.map((problem) => `on a phone: ${problem}`),
  ];
}
