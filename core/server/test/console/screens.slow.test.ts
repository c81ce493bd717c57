import { violations } from '../support/console/console-axe.ts';
import { DEVICES } from '../support/console/console-pictures.ts';
import { testScreens } from '../support/console/console-screens.ts';

/** Every screen can be reached and passes every axe rule on a phone in the dark theme. */

await testScreens({ ...DEVICES.phone, colorScheme: 'dark' }, violations);
