import { describe } from './description.ts';
import type { Sources } from './sources.ts';

/** Returns llms.txt: the summary of the contract, then every page with its address as Markdown. */
export function llmsText(summary: string, { sections }: Sources): string {
  const lists = sections
    .filter(({ pages }) => pages.length > 0)
    .map(({ title, pages }) => {
      const items = pages.map(({ source }) => {
        const about = describe(source.markdown);
        return `- [${source.title}](${source.url}.md)${about === '' ? '' : `: ${about}`}`;
      });
      return `## ${title}\n\n${items.join('\n')}\n`;
    });
  return `${summary.trimEnd()}\n- [All pages in one file](/llms-full.txt)\n\n${lists.join('\n')}`;
}

/** Sections that describe how the service is run and changed, which a client's author doesn't need. */
const LEFT_OUT = new Set(['Operate', 'Contribute']);

/** Returns llms-full.txt: the text of every page for people who build with the API. */
export function llmsFullText({ home, sections }: Sources): string {
  const pages = sections
    .filter(({ title }) => !LEFT_OUT.has(title))
    .flatMap((section) => section.pages.map(({ source }) => source));
  return [home, ...pages]
    .map(({ url, markdown }) => `<!-- ${url} -->\n\n${markdown.trim()}\n`)
    .join('\n');
}
