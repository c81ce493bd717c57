import { violations } from '../support/console/console-axe.ts';
import { DEVICES } from '../support/console/console-pictures.ts';
import {
  EVERYBODY_ELSE,
  OWNER_AND_OPERATOR,
  testScreens,
} from '../support/console/console-screens.ts';

/** Every screen can be reached and passes every axe rule on a phone in the dark theme. */

const people = [...OWNER_AND_OPERATOR, ...EVERYBODY_ELSE];
await testScreens(people, { ...DEVICES.phone, colorScheme: 'dark' }, violations);
