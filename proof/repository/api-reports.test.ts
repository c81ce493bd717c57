import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { apiReport, PACKAGES_WITH_API, reportPath } from '../../release/api-report.ts';

test.for(PACKAGES_WITH_API)('the API report of %s is up to date', async (name) => {
  const committed = await readFile(reportPath(name), 'utf8');
  expect(await apiReport(name), 'Run: npm run api-reports').toBe(committed);
});
