import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pythonFile } from './generated.ts';

const root = join(import.meta.dirname, '../..');

test('the reference of the Python SDK is up to date (else run npm run docs)', async () => {
  const [path, text] = await pythonFile(root);
  expect(await readFile(join(root, path), 'utf8')).toBe(text);
});
