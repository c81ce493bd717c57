import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { EXAMPLE_REPOSITORY } from './example-addresses.ts';
import { readNavigation, type NavigationEntry } from './navigation.ts';
import { HOME, urlOf } from './page-url.ts';

/** One Markdown file that becomes a page. */
export interface Source {
  /** From the root of the repository. */
  readonly path: string;
  readonly url: string;
  readonly markdown: string;
  /** The title in the sidebar. */
  readonly title: string;
  /** The page's own first heading. */
  readonly heading: string;
}

/** A page in the sidebar, with the pages beneath it. */
export interface NavigationPage {
  readonly source: Source;
  readonly children: readonly Source[];
}

export interface Section {
  readonly part: string;
  readonly title: string;
  readonly pages: readonly NavigationPage[];
}

export interface Sources {
  readonly home: Source;
  readonly sections: readonly Section[];
  /** All pages in the order of the sidebar, without the first page. */
  readonly inOrder: readonly Source[];
}

/** Where the Markdown comes from, and the address of that repository, if it is known. */
export interface SourceRepository {
  readonly root: string;
  readonly repository: string | null;
}

/** Reads every page that docs/README.md lists. Throws if a listed file is missing. */
export async function readSources(from: SourceRepository): Promise<Sources> {
  const home = await readSource(from, { path: HOME });
  const sections: Section[] = [];
  for (const { part, title, entries } of readNavigation(home.markdown)) {
    const pages: NavigationPage[] = [];
    for (const entry of entries) pages.push(await readEntry(from, entry));
    sections.push({ part, title, pages });
  }
  const inOrder = sections.flatMap(({ pages }) =>
    pages.flatMap(({ source, children }) => [source, ...children]),
  );
  return { home, sections, inOrder };
}

async function readEntry(from: SourceRepository, entry: NavigationEntry): Promise<NavigationPage> {
  const source = await readSource(from, entry);
  if (entry.folder === null) return { source, children: [] };
  const children: Source[] = [];
  for (const path of await markdownFiles(from.root, entry.folder)) {
    if (path !== entry.path) children.push(await readSource(from, { path }));
  }
  return { source, children };
}

async function readSource(
  { root, repository }: SourceRepository,
  { path, title }: Pick<NavigationEntry, 'path'> & Partial<NavigationEntry>,
): Promise<Source> {
  const text = await readFile(join(root, path), 'utf8');
  const markdown = repository === null ? text : text.replaceAll(EXAMPLE_REPOSITORY, repository);
  const heading = /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll('`', '').trim();
  if (heading === undefined) throw new Error(`${path} has no first heading.`);
  return { path, url: urlOf(path), markdown, title: title ?? heading, heading };
}

/** Returns the Markdown files below a folder, sorted. */
export async function markdownFiles(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted();
}
