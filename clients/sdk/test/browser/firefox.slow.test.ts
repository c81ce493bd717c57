import { describe } from 'vitest';
import { openFirefox } from './firefox.ts';
import { testPackageIn } from './test-package.ts';

describe('the installed package in Firefox', () => {
  testPackageIn(openFirefox);
});
