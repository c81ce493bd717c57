import { escapeHtml } from './html.ts';
import { icon } from './icons.ts';
import type { Heading } from './markdown.ts';
import type { NavigationPage, Section, Source } from './sources.ts';

/** The sidebar of one page: its section is open, the others are closed. */
export function renderSidebar(
  sections: readonly Section[],
  current: { readonly url: string | null; readonly headings?: readonly Heading[] },
): string {
  const others = [
    ['/docs', 'Documentation'],
    ['/changelog', 'Changelog'],
    ['/status', 'Status'],
    ['/app', 'Console'],
  ] as const;
  const top = others
    .map(([url, title]) => `<li>${link({ url, title }, current.url)}</li>`)
    .join('');
  const parts = [...new Set(sections.map(({ part }) => part))].map((part) => {
    const lists = sections
      .filter((section) => section.part === part && section.pages.length > 0)
      .map((section) => renderSection(section, current));
    return `<p class="sidebar-part">${escapeHtml(part)}</p>${lists.join('')}`;
  });
  return `<ul class="sidebar-top">${top}</ul>${parts.join('')}`;
}

function renderSection(
  { title, pages }: Section,
  current: { readonly url: string | null; readonly headings?: readonly Heading[] },
): string {
  const isOpen = pages.some((page) => holds(page, current.url));
  const items = pages.map((page) => {
    const own = link(page.source, current.url);
    if (!holds(page, current.url)) return `<li>${own}</li>`;
    return `<li>${own}${renderHeadings(current.headings ?? [])}${renderChildren(page, current.url)}</li>`;
  });
  return `<details${isOpen ? ' open' : ''}><summary>${icon('chevron', 14)}${escapeHtml(title)}</summary><ul>${items.join('')}</ul></details>`;
}

function holds({ source, children }: NavigationPage, url: string | null): boolean {
  return source.url === url || children.some((child) => child.url === url);
}

function renderChildren({ children }: NavigationPage, url: string | null): string {
  if (children.length === 0) return '';
  return `<ul>${children.map((child) => `<li>${link(child, url)}</li>`).join('')}</ul>`;
}

/** Reference pages have no table of contents beside them, so the sidebar shows it. */
function renderHeadings(headings: readonly Heading[]): string {
  if (headings.length === 0) return '';
  return `<ul class="sidebar-headings" data-contents>${contentsItems(headings).join('')}</ul>`;
}

/** The list items of the headings that readers jump to. */
export function contentsItems(headings: readonly Heading[]): string[] {
  return headings
    .filter(({ level }) => level === 2 || level === 3)
    .map(
      ({ id, text, level }) =>
        `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
    );
}

function link({ url, title }: Pick<Source, 'url' | 'title'>, current: string | null): string {
  const here = url === current ? ' aria-current="page"' : '';
  return `<a href="${url}"${here}>${escapeHtml(title)}</a>`;
}
