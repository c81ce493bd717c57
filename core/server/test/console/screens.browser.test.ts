import { OWNER_AND_OPERATOR, testScreens } from '../support/console/console-screens.ts';
import { FIRST_LOOK, screenProblems } from '../support/console/screen-problems.ts';

await testScreens(OWNER_AND_OPERATOR, FIRST_LOOK, screenProblems);
