import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderArticle } from './article.ts';
import { describe } from './description.ts';
import { createHighlight } from './highlight.ts';
import type { LinkMap } from './links.ts';
import { llmsFullText, llmsText } from './llms.ts';
import { renderMarkdown, type MarkdownDeps } from './markdown.ts';
import { searchSections } from './search-index.ts';
import { servedMarkdown } from './served-markdown.ts';
import { renderElsewhere, renderShell, type Assets, type Shell } from './shell.ts';
import { renderSidebar } from './sidebar.ts';
import { readSources, type Source, type Sources } from './sources.ts';
import {
  HOME_LEAD,
  HOME_TITLE,
  renderHome,
  renderNotFound,
  renderStatus,
} from './special-pages.ts';

export interface RenderOptions {
  /** The root of the repository. */
  readonly root: string;
  readonly assets: Assets;
  /** The address of the repository, for "Edit this page" and links to source files. Null if unknown. */
  readonly repository: string | null;
}

export interface RenderedSite {
  /** Text by the path of its file in the site, such as /docs/errors/index.html. */
  readonly files: ReadonlyMap<string, string>;
  /** Images to copy, by their path in the repository. */
  readonly images: ReadonlySet<string>;
  readonly pages: number;
}

/** Renders every page, its Markdown, the search index and the files for language models. */
export async function renderSite(options: RenderOptions): Promise<RenderedSite> {
  const sources = await readSources(options);
  const images = new Set<string>();
  const deps: MarkdownDeps = {
    links: linkMap(sources, options.repository, images),
    highlight: await createHighlight(),
    inlineSvg: svgReader(options.root),
  };
  const shell = (page: Omit<Shell, 'assets'>): string =>
    renderShell({ ...page, assets: options.assets });
  const all = [sources.home, ...sources.inOrder];
  const files = new Map([
    ...renderArticles(sources, { deps, shell, repository: options.repository }),
    ...renderSpecialPages(sources, shell),
    ['/status/elsewhere.html', renderElsewhere(renderStatus(), options.assets)],
    ...all.map(({ url, markdown, path }): [string, string] => [
      `${url}.md`,
      servedMarkdown(markdown, path, deps.links),
    ]),
    ...(await renderData(sources, options.root)),
  ]);
  return { files, images, pages: all.length };
}

type RenderPage = (page: Omit<Shell, 'assets'>) => string;

function renderArticles(
  sources: Sources,
  { deps, shell, repository }: { deps: MarkdownDeps; shell: RenderPage; repository: string | null },
): [path: string, html: string][] {
  const sections = sectionTitles(sources);
  return sources.inOrder.map((source, at) => {
    const body = renderMarkdown(source.markdown, source.path, deps);
    const isSplit = body.html.includes('class="section-aside"');
    const isWide = hasWideTable(body.html);
    const html = shell({
      title: source.heading,
      description: describe(source.markdown),
      url: source.url,
      markdownUrl: `${source.url}.md`,
      sidebar: renderSidebar(sources.sections, {
        url: source.url,
        headings: isSplit || isWide ? body.headings : [],
      }),
      main: renderArticle({
        source,
        section: sections.get(source) ?? '',
        body,
        previous: sources.inOrder[at - 1],
        next: sources.inOrder[at + 1],
        repository,
      }),
      layout: isSplit ? 'reference' : isWide ? 'wide' : 'article',
    });
    return [`${source.url}/index.html`, html];
  });
}

/** Tables with this many columns get more room than text does. */
const WIDE_COLUMNS = 5;

function hasWideTable(html: string): boolean {
  const rows = html.match(/<thead[\s\S]*?<\/thead>/g) ?? [];
  return rows.some((row) => row.split('<th ').length > WIDE_COLUMNS);
}

function sectionTitles({ sections }: Sources): Map<Source, string> {
  const titles = new Map<Source, string>();
  for (const { title, pages } of sections) {
    for (const { source, children } of pages) {
      for (const page of [source, ...children]) titles.set(page, title);
    }
  }
  return titles;
}

function renderSpecialPages(
  { sections }: Sources,
  shell: RenderPage,
): [path: string, html: string][] {
  const special = (
    page: Pick<Shell, 'title' | 'description' | 'url' | 'markdownUrl' | 'main'>,
  ): string =>
    shell({ ...page, sidebar: renderSidebar(sections, { url: page.url }), layout: 'plain' });
  return [
    [
      '/docs/index.html',
      special({
        title: HOME_TITLE,
        description: HOME_LEAD,
        url: '/docs',
        markdownUrl: '/docs.md',
        main: renderHome(sections),
      }),
    ],
    [
      '/status/index.html',
      special({
        title: 'Status',
        description: 'Whether this service works right now, and how it did in the last 90 days.',
        url: '/status',
        markdownUrl: null,
        main: renderStatus(),
      }),
    ],
    [
      '/404.html',
      special({
        title: 'Page not found',
        description: 'There is no page at this address.',
        url: null,
        markdownUrl: null,
        main: renderNotFound(),
      }),
    ],
  ];
}

function linkMap(sources: Sources, repository: string | null, images: Set<string>): LinkMap {
  const all = [sources.home, ...sources.inOrder];
  return {
    pages: new Map(all.map(({ path, url }) => [path, url])),
    repository,
    onImage: (path) => images.add(path),
  };
}

/** Diagrams of docs/ become part of the page, without their own style element, which is for GitHub. */
function svgReader(root: string): MarkdownDeps['inlineSvg'] {
  return (path) => {
    if (!path.startsWith('docs/') || !path.endsWith('.svg')) return null;
    return readFileSync(join(root, path), 'utf8').replaceAll(/<style>[\s\S]*?<\/style>\s*/g, '');
  };
}

async function renderData(sources: Sources, root: string): Promise<[string, string][]> {
  const index = sources.sections.flatMap(({ title, pages }) =>
    pages.flatMap(({ source, children }) =>
      [source, ...children].flatMap((page) => searchSections(page, title)),
    ),
  );
  const summary = await readFile(join(root, 'llms.txt'), 'utf8');
  return [
    ['/docs/search.json', JSON.stringify(index)],
    ['/llms.txt', llmsText(summary, sources)],
    ['/llms-full.txt', llmsFullText(sources)],
  ];
}
