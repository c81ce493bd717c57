/** Which test runs in which tier: `npm run test:unit`, `test:integration` or `test:browser`. */

export const TESTS = ['**/*.test.{ts,tsx}'];

/** Beside their source. They start no server and no browser. */
export const UNIT_TESTS = ['**/src/**/*.test.{ts,tsx}'];

/** Need Chromium, Firefox or the built pages. */
export const BROWSER_TESTS = [
  'sdk/test/browser/*.test.ts',
  'sdk/test/examples/guides.test.ts',
  'server/test/console/*.test.ts',
  'server/test/http/reference.test.ts',
  'server/test/operations/dev.test.ts',
  'server/test/stream/browser-refusal.test.ts',
  'server/test/stream/close-handshake.test.ts',
];
