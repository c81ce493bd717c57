import { posix } from 'node:path';

/** One page of the sidebar. */
export interface NavigationEntry {
  /** The Markdown file, from the root of the repository. */
  readonly path: string;
  readonly title: string;
  /** For the README of a folder of notes: the folder, whose other pages appear beneath it. */
  readonly folder: string | null;
}

export interface NavigationSection {
  /** What a reader came for. */
  readonly part: string;
  readonly title: string;
  readonly entries: readonly NavigationEntry[];
}

/**
 * Reads the sidebar, and the order of "previous" and "next", from the tables of docs/README.md: `##` is a part, `###` a
 * section, each link to a page an entry. A test fails if a page of docs/ is missing or listed twice.
 */
export function readNavigation(markdown: string): NavigationSection[] {
  const sections: { part: string; title: string; entries: NavigationEntry[] }[] = [];
  let part = '';
  for (const line of markdown.split('\n')) {
    if (line.startsWith('## ')) part = line.slice('## '.length);
    if (line.startsWith('### '))
      sections.push({ part, title: line.slice('### '.length), entries: [] });
    if (!line.startsWith('| ')) continue;
    for (const [, title = '', target = ''] of line.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)/g)) {
      const path = posix.join('docs', target);
      const folder = /^docs\/\w+\/README\.md$/.test(path) ? posix.dirname(path) : null;
      const capital = title.charAt(0).toUpperCase() + title.slice(1);
      sections
        .at(-1)
        ?.entries.push({ path, title: title.startsWith('svc') ? title : capital, folder });
    }
  }
  return sections;
}
