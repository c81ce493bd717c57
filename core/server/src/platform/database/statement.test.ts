import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = join(import.meta.dirname, '../..');
/** The audit wraps SQL files in a query that it builds, so there is nothing to declare. */
const EXCEPTIONS = new Set([
  'platform/database/statement.ts',
  'platform/database/statement.test.ts',
  'ledger/reports/audit.ts',
]);

test('only declared statements give rows a type (use statement and queryRows, not query<Row>)', async () => {
  const unchecked: string[] = [];
  for (const file of await readdir(SOURCE, { recursive: true })) {
    if (!file.endsWith('.ts') || EXCEPTIONS.has(file)) continue;
    if (/\.query</.test(await readFile(join(SOURCE, file), 'utf8'))) unchecked.push(file);
  }
  expect(unchecked).toEqual([]);
});
