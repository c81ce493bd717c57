import { plain } from './description.ts';
import { createSlugs } from './slug.ts';
import type { Source } from './sources.ts';

/** A part of a page, from one heading to the next. The client builds its index from these. */
export interface SearchSection {
  /** The page's URL, with the anchor of the heading. */
  readonly url: string;
  /** The title of the page. */
  readonly page: string;
  /** The heading of the part. Empty for the part before the first one. */
  readonly heading: string;
  readonly text: string;
  /** The section of the sidebar. */
  readonly group: string;
}

/** Splits a page at its headings. Code is searched too, because readers paste error codes and field names. */
export function searchSections(source: Source, group: string): SearchSection[] {
  const slug = createSlugs();
  const sections: { heading: string; id: string; lines: string[] }[] = [
    { heading: '', id: '', lines: [] },
  ];
  let isCode = false;
  for (const line of source.markdown.split('\n')) {
    if (/^\s*```/.test(line)) {
      isCode = !isCode;
      continue;
    }
    const match = isCode ? null : /^(#{1,4}) (.+)$/.exec(line);
    if (match === null) {
      sections.at(-1)?.lines.push(line);
      continue;
    }
    const heading = plain(match[2] ?? '');
    const id = slug(heading);
    if (match[1] !== '#') sections.push({ heading, id, lines: [] });
  }
  return sections
    .map(({ heading, id, lines }) => ({
      url: id === '' ? source.url : `${source.url}#${id}`,
      page: source.heading,
      heading,
      text: searchText(lines.join('\n')),
      group,
    }))
    .filter(({ heading, text }) => heading !== '' || text !== '');
}

function searchText(markdown: string): string {
  return plain(
    markdown
      .replaceAll(/<!--[\s\S]*?-->/g, ' ')
      .replaceAll(/^\s*[-*] /gm, '')
      .replaceAll(/^\|[-:| ]+\|$/gm, ' ')
      .replaceAll('|', ' ')
      .replaceAll(/<\/?\w+>/g, ' '),
  );
}
