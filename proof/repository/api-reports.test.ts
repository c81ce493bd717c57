import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { apiReport, REPORT } from '../../release/api-report.ts';

test('release/public-api.md lists what the npm packages export', async () => {
  expect(await apiReport(), 'Run: npm run api-reports').toBe(await readFile(REPORT, 'utf8'));
});
