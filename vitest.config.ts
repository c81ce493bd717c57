import { defineConfig } from 'vitest/config';

// Clients read them, and a developer's shell may have those of `npm run dev`.
delete process.env['SVC_BASE_URL'];
delete process.env['SVC_API_KEY'];

export default defineConfig({
  test: {
    include: ['**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    pool: 'forks',
    globalSetup: ['testing/src/postgres/global-setup.ts'],
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
