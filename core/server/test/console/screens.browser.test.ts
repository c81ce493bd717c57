import { colourViolations, violations } from '../support/console/console-axe.ts';
import {
  BROKEN_ADDRESSES,
  layoutMistakes,
  LONELY_BUTTONS,
  OVERFLOW,
  TIGHT_DIALOGS,
} from '../support/console/console-layout.ts';
import { DEVICES, takePicturesOfEveryLook } from '../support/console/console-pictures.ts';
import { testScreens } from '../support/console/console-screens.ts';

/** Every screen passes axe and fits on a desktop, and has good colours and fits on a phone in the dark theme. */

await testScreens({ ...DEVICES.desktop, colorScheme: 'light' }, async (page, { name }) => {
  const onDesktop = [
    ...(await layoutMistakes(page, [OVERFLOW, BROKEN_ADDRESSES, TIGHT_DIALOGS])),
    ...(await violations(page)),
  ];
  await page.setViewportSize(DEVICES.phone.viewport);
  await page.emulateMedia({ colorScheme: 'dark' });
  const onPhone = [
    ...(await layoutMistakes(page, [OVERFLOW, LONELY_BUTTONS, TIGHT_DIALOGS])),
    ...(await colourViolations(page)),
  ];
  await takePicturesOfEveryLook(page, name);
  return [...onDesktop, ...onPhone.map((problem) => `on a phone: ${problem}`)];
});
