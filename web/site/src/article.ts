import { escapeHtml } from './html.ts';
import { icon } from './icons.ts';
import type { Heading, RenderedMarkdown } from './markdown.ts';
import { contentsItems } from './sidebar.ts';
import type { Source } from './sources.ts';

export interface Article {
  readonly source: Source;
  readonly section: string;
  readonly body: RenderedMarkdown;
  readonly previous: Source | undefined;
  readonly next: Source | undefined;
  /** The address of the repository, or null if the build doesn't know it. */
  readonly repository: string | null;
}

/** The middle and right columns of a page: its text, its contents, and the way on. */
export function renderArticle(article: Article): string {
  const { source, section, body } = article;
  return `<main id="main" class="article" tabindex="-1">
<p class="eyebrow">${escapeHtml(section)}</p>
<div class="page-tools"><a href="${source.url}.md">Markdown</a><button type="button" data-copy-page="${source.url}.md" hidden>Copy page</button></div>
<article class="prose">${body.html}</article>
${renderFooter(article)}
</main>
${renderContents(body.headings)}`;
}

function renderFooter({ source, previous, next, repository }: Article): string {
  const edit =
    repository === null
      ? ''
      : `<p class="edit"><a href="${repository}/edit/main/${source.path}">Edit this page</a></p>`;
  return `<footer class="article-foot">${edit}<nav class="neighbours" aria-label="Previous and next">${neighbour('previous', previous)}${neighbour('next', next)}</nav></footer>`;
}

function neighbour(which: 'previous' | 'next', page: Source | undefined): string {
  if (page === undefined) return '<span></span>';
  const label = which === 'previous' ? 'Previous' : 'Next';
  return `<a class="neighbour neighbour-${which}" href="${page.url}" rel="${which === 'previous' ? 'prev' : 'next'}"><span class="neighbour-label">${icon(which, 16)}${label}</span><span class="neighbour-title">${escapeHtml(page.title)}</span></a>`;
}

function renderContents(headings: readonly Heading[]): string {
  const items = contentsItems(headings);
  if (items.length < 2) return '<div class="contents"></div>';
  return `<nav class="contents" aria-label="On this page"><p>On this page</p><ul data-contents>${items.join('')}</ul></nav>`;
}
