import { resolveLink, type LinkMap } from './links.ts';

/** Returns a page's Markdown with links that work on the site: to the Markdown of other pages, and to its files. */
export function servedMarkdown(markdown: string, path: string, links: LinkMap): string {
  return markdown.replaceAll(/\]\(([^)\s]+)\)/g, (whole, href: string) => {
    const url = resolveLink(path, href, links);
    if (url === null || !url.startsWith('/')) return whole;
    return `](${url.replace(/^(\/(?:docs|changelog)(?:\/[^#.]*)?)(#|$)/, '$1.md$2')})`;
  });
}
