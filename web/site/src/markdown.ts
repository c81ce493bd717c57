import MarkdownIt, { type MarkdownIt as Parser, type Token } from 'markdown-it';
import { parseFence, renderCode, renderTabs, type Fence } from './code-block.ts';
import { escapeHtml, textOf } from './html.ts';
import type { Highlight } from './highlight.ts';
import { resolveLink, type LinkMap } from './links.ts';
import { createSlugs } from './slug.ts';
import { renderTables } from './tables.ts';

export interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

/** A page's body, with its headings for the table of contents. */
export interface RenderedMarkdown {
  readonly html: string;
  readonly headings: readonly Heading[];
}

export interface MarkdownDeps {
  readonly highlight: Highlight;
  readonly links: LinkMap;
  /** Returns an SVG of the repository for the page itself, so that its colours follow the theme, or null. */
  readonly inlineSvg: (path: string) => string | null;
}

const TAGS = /^<\/?(br|kbd|sup|sub|details|summary)>$/;
const COMMENT = /^<!--[\s\S]*?-->\s*$/;
const CALLOUT = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\n?/;

/** Renders one Markdown file. `path` is its place in the repository, which its relative links start from. */
export function renderMarkdown(
  markdown: string,
  path: string,
  deps: MarkdownDeps,
): RenderedMarkdown {
  const md = createParser(path, deps);
  const tokens = md.parse(markdown, {});
  const headings = nameHeadings(tokens, md);
  markCallouts(tokens);
  renderTables(tokens, md);
  joinTabs(tokens, path, deps.highlight);
  return { html: layOut(tokens, md), headings };
}

function createParser(path: string, deps: MarkdownDeps): Parser {
  const md = new MarkdownIt({ html: true, linkify: false, typographer: false });
  const { rules } = md.renderer;
  rules['fence'] = (tokens, at) => {
    const token = tokens[at];
    return renderCode(parseFence(token?.info ?? '', token?.content ?? ''), deps.highlight);
  };
  rules['code_block'] = (tokens, at) =>
    renderCode(parseFence('', tokens[at]?.content ?? ''), deps.highlight);
  rules['html_block'] = (tokens, at) => knownHtml(tokens[at]?.content ?? '', path);
  rules['html_inline'] = rules['html_block'];
  rules['link_open'] = (tokens, at) => {
    const href = resolveLink(path, String(tokens[at]?.attrGet('href') ?? ''), deps.links);
    return href === null ? '<span>' : `<a href="${escapeHtml(href)}">`;
  };
  rules['link_close'] = (tokens, at) => (isLinked(tokens, at, path, deps) ? '</a>' : '</span>');
  rules['image'] = (tokens, at) => renderImage(tokens[at], path, deps);
  return md;
}

/** Whether the link that ends here was rendered as one. Links can't be nested. */
function isLinked(tokens: readonly Token[], at: number, path: string, deps: MarkdownDeps): boolean {
  const open = tokens.slice(0, at).findLast(({ type }) => type === 'link_open');
  return resolveLink(path, String(open?.attrGet('href') ?? ''), deps.links) !== null;
}

function renderImage(token: Token | undefined, path: string, deps: MarkdownDeps): string {
  const source = String(token?.attrGet('src') ?? '');
  const alt = token?.content ?? '';
  const svg = deps.inlineSvg(new URL(source, `file:///${path}`).pathname.slice(1));
  if (svg !== null) {
    return `<span class="diagram" tabindex="0" role="img" aria-label="${escapeHtml(alt)}">${svg}</span>`;
  }
  const url = resolveLink(path, source, deps.links);
  return `<img src="${escapeHtml(url ?? '')}" alt="${escapeHtml(alt)}" loading="lazy" decoding="async">`;
}

/** Fields get a box, other comments disappear, and a few tags without attributes are allowed. Anything else fails the build. */
function knownHtml(html: string, path: string): string {
  if (/^<!-- fields -->\s*$/.test(html)) return '<div class="fields">';
  if (/^<!-- \/fields -->\s*$/.test(html)) return '</div>';
  if (COMMENT.test(html)) return '';
  const tags = html.match(/<[^>]*>/g) ?? [];
  const unknown = tags.find((tag) => !TAGS.test(tag));
  if (unknown !== undefined) throw new Error(`${path} has HTML that the site rejects: ${unknown}`);
  return html;
}

function nameHeadings(tokens: readonly Token[], md: Parser): Heading[] {
  const slug = createSlugs();
  const headings: Heading[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const inline = tokens[at + 1];
    const text = textOf(md.renderer.render(inline?.children ?? [], md.options, {}));
    const id = slug(text);
    token.attrSet('id', id);
    headings.push({ level: Number(token.tag.slice(1)), id, text });
    if (token.tag !== 'h1' && inline !== undefined) token.meta = { id };
  }
  md.renderer.rules['heading_open'] = (all, at) => {
    const token = all[at];
    const id = String(token?.attrGet('id') ?? '');
    return token?.tag === 'h1'
      ? `<h1 id="${id}">`
      : `<${token?.tag} id="${id}"><a class="anchor" href="#${id}">`;
  };
  md.renderer.rules['heading_close'] = (all, at) => {
    const tag = all[at]?.tag;
    return tag === 'h1' ? '</h1>' : `</a></${tag}>`;
  };
  return headings;
}

/** GitHub's callouts: a quote that begins with [!NOTE]. */
function markCallouts(tokens: Token[]): void {
  for (const [at, token] of tokens.entries()) {
    if (token.type !== 'blockquote_open') continue;
    const inline = tokens[at + 2];
    const kind = CALLOUT.exec(inline?.content ?? '')?.[1];
    if (kind === undefined || inline === undefined) continue;
    token.attrSet('class', `callout callout-${kind.toLowerCase()}`);
    const children = inline.children ?? [];
    const rest = children.findIndex(({ type }) => type === 'softbreak' || type === 'hardbreak');
    inline.children = rest < 0 ? [] : children.slice(rest + 1);
  }
}

/** Replaces the blocks between the two comments by one token. */
function joinTabs(tokens: Token[], path: string, highlight: Highlight): void {
  let count = 0;
  for (;;) {
    const start = tokens.findIndex((token) => isMarker(token, 'tabs'));
    if (start < 0) return;
    const length = tokens.slice(start).findIndex((token) => isMarker(token, '/tabs'));
    if (length < 0) throw new Error(`${path}: <!-- tabs --> has no <!-- /tabs -->.`);
    const fences: Fence[] = tokens
      .slice(start, start + length)
      .filter(({ type }) => type === 'fence')
      .map(({ info, content }) => parseFence(info, content));
    const [joined] = tokens.splice(start, length + 1);
    if (joined === undefined) return;
    count += 1;
    joined.type = 'tabs';
    joined.content = renderTabs(fences, { id: `tabs-${count}`, highlight });
    tokens.splice(start, 0, joined);
  }
}

function isMarker(token: Token, name: string): boolean {
  return token.type === 'html_block' && token.content.trim() === `<!-- ${name} -->`;
}

/**
 * Renders the tokens. Blocks between <!-- aside --> and <!-- /aside --> go to a second column, beside the section that
 * they belong to.
 */
function layOut(tokens: Token[], md: Parser): string {
  md.renderer.rules['tabs'] = (all, at) => all[at]?.content ?? '';
  const render = (some: Token[]): string => md.renderer.render(some, md.options, {});
  if (!tokens.some((token) => isMarker(token, 'aside'))) return render(tokens);
  return splitSections(tokens)
    .map((section) => {
      const { main, aside } = takeAsides(section);
      const left = `<div class="section-main">${render(main)}</div>`;
      return aside.length === 0
        ? `<section class="section">${left}</section>`
        : `<section class="section section-split">${left}<div class="section-aside">${render(aside)}</div></section>`;
    })
    .join('\n');
}

function splitSections(tokens: readonly Token[]): Token[][] {
  const sections: Token[][] = [[]];
  for (const token of tokens) {
    if (token.type === 'heading_open' && /^h[23]$/.test(token.tag)) sections.push([]);
    sections.at(-1)?.push(token);
  }
  return sections;
}

function takeAsides(tokens: readonly Token[]): { main: Token[]; aside: Token[] } {
  const main: Token[] = [];
  const aside: Token[] = [];
  let target = main;
  for (const token of tokens) {
    if (isMarker(token, 'aside')) target = aside;
    else if (isMarker(token, '/aside')) target = main;
    else target.push(token);
  }
  return { main, aside };
}
