import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { basicPath } from './proof/repository/tier-programs.ts';
import { globsOf, NEEDS, TIERS } from './proof/repository/tiers.ts';

// Clients read them, and a developer's shell may have those of `npm run dev`.
delete process.env['SVC_BASE_URL'];
delete process.env['SVC_API_KEY'];

// Tests start hundreds of Node processes, which would compile the same files again.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '.cache/compiled');

const BASIC_PATH = basicPath();
const POSTGRES = 'proof/testing/src/postgres/global-setup.ts';
const PAGES = 'proof/testing/src/build-pages.ts';
const PYTHON = 'proof/testing/src/python-environments.ts';

/** What is prepared before the first test of a tier. */
const SETUP: Readonly<Record<string, string[]>> = {
  unit: [],
  integration: [POSTGRES],
  programs: [POSTGRES],
  browser: [PAGES, POSTGRES],
  python: [PYTHON, POSTGRES],
  slow: [PYTHON, PAGES, POSTGRES],
};

/**
 * Tests mostly wait for processes and sockets. Those of `npm test` start few programs, so two of them share a core. They share one database
 * server, too, so more than four cores don't add workers.
 */
function workersOf(tier: string) {
  const cores = Math.min(availableParallelism(), 4);
  return NEEDS[tier]?.length === 0
    ? { maxWorkers: 2 * cores, sequence: { groupOrder: 1 } }
    : { maxWorkers: Math.max(3, cores), sequence: { groupOrder: 2 } };
}

export default defineConfig({
  test: {
    projects: TIERS.map((tier) => ({
      extends: true,
      test: {
        name: tier,
        ...globsOf(tier),
        globalSetup: SETUP[tier] ?? [],
        setupFiles: ['proof/repository/tier-guard.ts'],
        ...workersOf(tier),
        // Files of these tiers share their workers and so the modules that they import, which saves a quarter to a third of the time.
        isolate: !['unit', 'integration', 'programs'].includes(tier),
        env: { TEST_TIER: tier, ...(NEEDS[tier]?.length === 0 && { PATH: BASIC_PATH }) },
      },
    })),
    pool: 'forks',
    // Ends tests that hang. A test that guarantees a time checks it itself.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // Files may share a worker.
    unstubEnvs: true,
    // A flaky test is a failing test: nothing is retried.
    retry: 0,
    // Polls wait for facts.
    expect: { poll: { timeout: 60_000 } },
    reporters: [
      'default',
      ...(process.env['GITHUB_ACTIONS'] === undefined ? [] : ['github-actions']),
      './proof/repository/tiers-not-run.ts',
    ],
  },
});
