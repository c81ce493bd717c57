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

test('pages for users of the API come before pages for operators of a service', async () => {
  const { sections } = await readSources({ root, repository: null });
  const parts = sections.map(({ part }) => part);
  expect([...new Set(parts)]).toEqual(['Use the API', 'Run it yourself']);
  expect(parts.toSorted((a, b) => b.localeCompare(a))).toEqual(parts);
  const operators = sections.filter(({ part }) => part === 'Run it yourself');
  const paths = operators.flatMap(({ pages }) => pages.map(({ source }) => source.path));
  for (const path of [
    'docs/configuration.md',
    'docs/reference/svc-admin.md',
    'docs/reference/metrics.md',
  ]) {
    expect(paths).toContain(path);
  }
});

test('no two pages have the same URL', async () => {
  const { home, inOrder } = await readSources({ root, repository: null });
  const urls = [home, ...inOrder].map(({ url }) => url);
  expect(urls.filter((url, at) => urls.indexOf(url) !== at)).toEqual([]);
});
