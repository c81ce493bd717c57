import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
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
    // Changes move to CHANGELOG.md.
    const folder = dirname(page) === 'release/changes' ? root : join(root, dirname(page));
    for (const target of linksIn(await readFile(join(root, page), 'utf8'))) {
      if (!existsSync(join(folder, target))) broken.push(`${page}: ${target}`);
    }
  }
  expect(pages.length).toBeGreaterThan(40);
  expect(broken).toEqual([]);
});

test('docs/adr/README.md lists every decision record', async () => {
  const links = linksIn(await readFile(join(root, 'docs/adr/README.md'), 'utf8'));
  const index = links.filter((target) => /^\d{4}-/.test(target));
  const records = pages.flatMap((path) => /^docs\/adr\/(\d{4}-.*)$/.exec(path)?.[1] ?? []);
  expect(index.toSorted()).toEqual(records.toSorted());
});

test('every decision record has a status and a date, and records that change each other link both ways', async () => {
  const records = pages.filter((path) => /^docs\/adr\/\d{4}-/.test(path));
  const statusLines = new Map<string, string>();
  for (const record of records) {
    const line = (await readFile(join(root, record), 'utf8')).split('\n')[2] ?? '';
    // Such as: **Status:** accepted, 2026-11-16. Amended by [ADR 0027](0027-settle-late-closes.md).
    expect(line, record).toMatch(
      /^\*\*Status:\*\* (accepted|replaced|withdrawn), \d{4}-\d{2}-\d{2}\./,
    );
    statusLines.set(basename(record), line);
  }
  for (const [record, line] of statusLines) {
    for (const other of linksIn(line)) expect(statusLines.get(other), other).toContain(record);
  }
});

/** Returns the relative link targets of a page, without anchors. */
function linksIn(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```.*?^```/gms, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}
