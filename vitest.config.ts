import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    pool: 'forks',
    globalSetup: ['testing/src/postgres/global-setup.ts'],
    // Tests mostly wait for processes and sockets: two at a time even on two cores.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A flaky test is a failing test: nothing is retried.
    retry: 0,
    // Polls wait for facts. A test that guarantees a time checks it itself.
    expect: { poll: { timeout: 30_000 } },
  },
});
