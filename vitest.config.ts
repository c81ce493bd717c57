import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BROWSER_TESTS, TESTS, UNIT_TESTS } from './test/tiers.ts';

// Clients read them, and a developer's shell may have those of `npm run dev`.
delete process.env['SVC_BASE_URL'];
delete process.env['SVC_API_KEY'];

// Tests start hundreds of Node processes, which would compile the same files again.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '.cache/compiled');

const WITHOUT = ['**/node_modules/**', '**/dist/**'];
const POSTGRES = 'testing/src/postgres/global-setup.ts';

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: UNIT_TESTS, exclude: WITHOUT },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: TESTS,
          exclude: [...WITHOUT, ...UNIT_TESTS, ...BROWSER_TESTS],
          globalSetup: [POSTGRES],
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: BROWSER_TESTS,
          exclude: WITHOUT,
          globalSetup: ['testing/src/build-pages.ts', POSTGRES],
        },
      },
    ],
    pool: 'forks',
    // Tests mostly wait for processes and sockets: three at a time even on two cores.
    maxWorkers: 3,
    // Ends tests that hang. A test that guarantees a time checks it itself.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // A flaky test is a failing test: nothing is retried.
    retry: 0,
    // Polls wait for facts.
    expect: { poll: { timeout: 60_000 } },
  },
});
