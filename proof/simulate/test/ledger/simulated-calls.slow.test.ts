import { expect, test } from 'vitest';
import { simulate } from '../simulate.ts';

test('PostgreSQL answers the calls of simulated runs as the ledger model did', async () => {
  const env = { DATABASE_URL: process.env['TEST_DATABASE_ADMIN_URL'] };
  const last = await simulate(['--equivalence', '--seeds', '10'], env);
  expect(last).toMatchObject({ passed: true, figures: { seeds: 10, differences: 0 } });
});

test('runs with the real SQL keep the guarantees too', async () => {
  const last = await simulate(['--ledger', 'pglite', '--seeds', '3']);
  expect(last).toMatchObject({ passed: true, figures: { seeds: 3, violations: 0 } });
});
