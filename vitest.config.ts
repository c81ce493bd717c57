import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    pool: 'forks',
    globalSetup: ['server/test/global-setup.ts'],
    // Tests mostly wait for processes and sockets: two at a time even on two cores.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A guarantee that holds only sometimes does not hold: nothing is retried.
    retry: 0,
    // What is polled for is a fact, not a time: a test that promises a time says it.
    expect: { poll: { timeout: 30_000 } },
  },
});
