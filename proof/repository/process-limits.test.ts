import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { processLimits } from './reference/process-limits-page.ts';

const ROOT = join(import.meta.dirname, '../..');

test('every limit of a process names a test that exists', () => {
  const limits = Object.values(processLimits()).flat();
  expect(limits.length).toBeGreaterThan(20);
  const missing = limits.filter(
    ({ test: { file, title } }) => !readFileSync(join(ROOT, file), 'utf8').includes(title),
  );
  expect(missing).toEqual([]);
});
