import { expect, test } from 'vitest';
import { createHighlight } from '../src/highlight.ts';
import { renderMarkdown, type MarkdownDeps } from '../src/markdown.ts';

const deps: MarkdownDeps = {
  highlight: await createHighlight(),
  links: {
    pages: new Map([
      ['docs/errors.md', '/docs/errors'],
      ['docs/adr/README.md', '/docs/adr'],
    ]),
    repository: null,
    onImage: () => undefined,
  },
  inlineSvg: () => null,
};

function render(markdown: string): string {
  return renderMarkdown(markdown, 'docs/guides/page.md', deps).html;
}

test('links to Markdown files become links to their pages, with the anchor', () => {
  expect(render('[a](../errors.md#http)')).toContain('<a href="/docs/errors#http">a</a>');
  expect(render('[b](../adr)')).toContain('<a href="/docs/adr">b</a>');
});

test('a link to the service of the examples becomes a link to the service that serves the page', () => {
  expect(render('[console](https://asr.example.org/app)')).toContain('<a href="/app">');
});

test('a link to a file that the site does not have stays plain text', () => {
  expect(render('[code](../../../core/server/src/main.ts)')).toContain('<span>code</span>');
});

test('headings get the anchors that GitHub gives them', () => {
  const { headings } = renderMarkdown('# A `b`\n\n## C & d\n\n## C & d\n', 'docs/x.md', deps);
  expect(headings.map(({ id }) => id)).toEqual(['a-b', 'c--d', 'c--d-1']);
});

test('code is coloured with classes', () => {
  const html = render('```ts\nconst a = 1;\n```');
  expect(html).toContain('<span class="t-keyword">const</span>');
  expect(html).not.toContain('style=');
});

test('blocks between the tabs comments become tabs with their labels', () => {
  const html = render(
    '<!-- tabs -->\n\n```sh curl\na\n```\n\n```ts TypeScript\nb\n```\n\n<!-- /tabs -->\n',
  );
  expect(html.match(/role="tab"/g)).toHaveLength(2);
  expect(html).toContain('>curl</button>');
  expect(html.match(/role="tabpanel"[^>]* data-inactive/g)).toHaveLength(1);
});

test('tabs that are never closed fail the build and name the page', () => {
  expect(() => render('<!-- tabs -->\n\n```sh\na\n```\n')).toThrow('docs/guides/page.md');
});

test('HTML with attributes fails the build', () => {
  expect(() => render('<p style="color: red">x</p>')).toThrow('rejects');
});

test("GitHub's callouts become boxes without their marker", () => {
  const html = render('> [!WARNING]\n> Take care.');
  expect(html).toContain('class="callout callout-warning"');
  expect(html).not.toContain('[!WARNING]');
});

test('asides form a second column beside their section', () => {
  const html = render(
    '## One\n\ntext\n\n<!-- aside -->\n\n```json\n{}\n```\n\n<!-- /aside -->\n\n## Two\n',
  );
  expect(html.match(/<section/g)).toHaveLength(3);
  expect(html).toMatch(/section-main"><h2[\s\S]*text[\s\S]*section-aside"><figure/);
});

test('cells of wide tables carry the name of their column for phones, and keep their roles', () => {
  const wide = render('| a | b | c | `d` |\n|---|---|---|---:|\n| 1 | 2 | 3 | 4 |');
  expect(wide).toContain('<td class="align-right" role="cell" data-label="d"><div>4</div></td>');
  const narrow = render('| a | b |\n|---|---|\n| 1 | 2 |');
  expect(narrow).toContain('<td>1</td>');
  expect(narrow).not.toContain('role="table"');
});

test('an empty header cell is no header', () => {
  expect(render('|  | b |\n|---|---|\n| 1 | 2 |')).toMatch(
    /<tr>\s*<td><\/td>\s*<th scope="col">b<\/th>/,
  );
});
