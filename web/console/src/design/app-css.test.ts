import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '..');

test('the stylesheet has the classes of every folder that has components', () => {
  const css = readFileSync(join(import.meta.dirname, 'app.css'), 'utf8');
  const sources = [...css.matchAll(/@source '(.+)';/g)].map(([, path = '']) =>
    join(import.meta.dirname, path),
  );
  const folders = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.tsx'))
    .map((file) => join(SRC, dirname(file)));
  const missing = folders.filter(
    (folder) => folder !== SRC && !sources.some((source) => folder.startsWith(source)),
  );
  expect(missing).toEqual([]);
});
