import { colourViolations, violations } from '../support/console/console-axe.ts';
import {
  BROKEN_ADDRESSES,
  layoutMistakes,
  LONELY_BUTTONS,
  OVERFLOW,
  OVERFLOWING_CARDS,
  TIGHT_DIALOGS,
} from '../support/console/console-layout.ts';
import { DEVICES, takePicturesOfEveryLook } from '../support/console/console-pictures.ts';
import { testScreens } from '../support/console/console-screens.ts';

/** Every screen passes axe and fits on a desktop and a tablet, and has good colours and fits on a phone in the dark theme. */

await testScreens({ ...DEVICES.desktop, colorScheme: 'light' }, async (page, { name }) => {
  const onDesktop = [
    ...(await layoutMistakes(page, [OVERFLOW, OVERFLOWING_CARDS, BROKEN_ADDRESSES, TIGHT_DIALOGS])),
    ...(await violations(page)),
  ];
  await page.setViewportSize(DEVICES.tablet.viewport);
  const onTablet = await layoutMistakes(page, [OVERFLOW, OVERFLOWING_CARDS]);
  await page.setViewportSize(DEVICES.phone.viewport);
  await page.emulateMedia({ colorScheme: 'dark' });
  const onPhone = [
    ...(await layoutMistakes(page, [OVERFLOW, OVERFLOWING_CARDS, LONELY_BUTTONS, TIGHT_DIALOGS])),
    ...(await colourViolations(page)),
  ];
  await takePicturesOfEveryLook(page, name);
  return [
    ...onDesktop,
    ...onTablet.map((problem) => `on a tablet: ${problem}`),
    ...onPhone.map((problem) => `on a phone: ${problem}`),
  ];
});
