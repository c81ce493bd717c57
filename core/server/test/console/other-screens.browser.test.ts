import { EVERYBODY_ELSE, testScreens } from '../support/console/console-screens.ts';
import { FIRST_LOOK, screenProblems } from '../support/console/screen-problems.ts';

await testScreens(EVERYBODY_ELSE, FIRST_LOOK, screenProblems);
