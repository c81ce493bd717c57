import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HOME } from '../src/page-url.ts';
import { markdownFiles, readSources } from '../src/sources.ts';

const root = join(import.meta.dirname, '../../..');

test('the navigation lists every page of docs/ exactly once', async () => {
  const { inOrder } = await readSources({ root, repository: null });
  const listed = inOrder.map(({ path }) => path);
  expect(listed.filter((path, at) => listed.indexOf(path) !== at)).toEqual([]);
  const written = await markdownFiles(root, 'docs');
  expect(written.length).toBeGreaterThan(80);
  expect(written.filter((path) => path !== HOME && !listed.includes(path))).toEqual([]);
});

test('no two pages have the same URL', async () => {
  const { home, inOrder } = await readSources({ root, repository: null });
  const urls = [home, ...inOrder].map(({ url }) => url);
  expect(urls.filter((url, at) => urls.indexOf(url) !== at)).toEqual([]);
});
