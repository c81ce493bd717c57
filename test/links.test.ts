import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const pages = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)));

test('every relative link in a Markdown page points to an existing file', async () => {
  const broken: string[] = [];
  for (const page of pages) {
    for (const target of linksIn(await readFile(join(root, page), 'utf8'))) {
      if (!existsSync(join(root, dirname(page), target))) broken.push(`${page}: ${target}`);
    }
  }
  expect(pages.length).toBeGreaterThan(40);
  expect(broken).toEqual([]);
});

test('docs/adr/README.md lists every decision record', async () => {
  const index = linksIn(await readFile(join(root, 'docs/adr/README.md'), 'utf8'));
  const records = pages.flatMap((path) => /^docs\/adr\/(\d{4}-.*)$/.exec(path)?.[1] ?? []);
  expect(index.toSorted()).toEqual(records.toSorted());
});

/** Returns the relative link targets of a page, without anchors. */
function linksIn(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```.*?^```/gms, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}
