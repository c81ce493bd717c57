import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkNode, NODE_MIN } from '../src/check-node.ts';

test('refuses an older Node by name, and accepts the one that package.json promises', async () => {
  const manifest = await readFile(join(import.meta.dirname, '../package.json'), 'utf8');
  expect(JSON.parse(manifest).engines.node).toBe(`>=${NODE_MIN}.0.0`);
  expect(() => checkNode('20.20.2')).toThrow(
    'The emulator needs Node 22 or newer, and this is Node 20.20.2.',
  );
  expect(() => checkNode(`${NODE_MIN}.0.0`)).not.toThrow();
  expect(() => checkNode('100.0.0')).not.toThrow();
});
