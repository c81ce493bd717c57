import { join } from 'node:path';
import { parse, type DefaultTreeAdapterTypes } from 'parse5';
import { expect, test } from 'vitest';
import { renderSite } from '../src/pages.ts';

/** Rules of accessibility that the HTML alone can break. Chromium checks the rest. */

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((each) => each.name === name)?.value;
}

/** The elements below a node, in the order of the document. */
function elementsIn(node: Node): Element[] {
  if (!('childNodes' in node)) return [];
  return node.childNodes.flatMap((child) =>
    'tagName' in child ? [child, ...elementsIn(child)] : [],
  );
}

function textOf(node: Node): string {
  if ('value' in node) return node.value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}

function isNamed(element: Element): boolean {
  const labels = [element, ...elementsIn(element)].flatMap((each) =>
    ['aria-label', 'aria-labelledby', 'alt'].map((name) => attribute(each, name) ?? ''),
  );
  return `${textOf(element)}${labels.join('')}`.trim() !== '';
}

function isInScrollArea(element: Element): boolean {
  if (attribute(element, 'tabindex') === '0') return isNamed(element);
  const { parentNode } = element;
  return parentNode !== null && 'tagName' in parentNode && isInScrollArea(parentNode);
}

function level(heading: Element): number {
  return Number(heading.tagName.slice(1));
}

type Rule = (page: readonly Element[]) => readonly (string | undefined)[];

function named(page: readonly Element[], ...names: string[]): Element[] {
  return page.filter(({ tagName }) => names.includes(tagName));
}

/** Each rule returns the text or address of the elements that break it. */
const RULES: Readonly<Record<string, { readonly broken: string; readonly find: Rule }>> = {
  'a page names its language': {
    broken: '<html><body></body></html>',
    find: (page) =>
      named(page, 'html')
        .filter((html) => attribute(html, 'lang') === undefined)
        .map(() => 'html'),
  },
  'headings skip no level': {
    broken: '<h2>a</h2><h4>b</h4>',
    find(page) {
      const headings = named(page, 'h1', 'h2', 'h3', 'h4', 'h5', 'h6');
      return headings
        .filter((each, at) => level(each) > level(headings[at - 1] ?? each) + 1)
        .map(textOf);
    },
  },
  'links, buttons and header cells have a name': {
    broken: '<a href="/x"><svg></svg></a>',
    find: (page) =>
      named(page, 'a', 'button', 'th')
        .filter((element) => !isNamed(element))
        .map(({ tagName }) => tagName),
  },
  'images have an alternative text': {
    broken: '<img src="/a.png">',
    find: (page) =>
      named(page, 'img')
        .filter((image) => attribute(image, 'alt') === undefined)
        .map((image) => attribute(image, 'src')),
  },
  'code and tables scroll with the keyboard': {
    broken: '<pre>a</pre>',
    find: (page) =>
      named(page, 'pre', 'table')
        .filter((element) => !isInScrollArea(element))
        .map(textOf),
  },
  'navigations have names of their own': {
    broken: '<nav aria-label="a"></nav><nav aria-label="a"></nav>',
    find(page) {
      const names = named(page, 'nav').map((nav) => attribute(nav, 'aria-label') ?? '');
      return names.filter((name, at) => name === '' || names.indexOf(name) !== at);
    },
  },
  'labels and controls refer to elements of the page': {
    broken: '<button aria-controls="nowhere">a</button>',
    find(page) {
      const ids = new Set(page.map((element) => attribute(element, 'id')));
      return ['aria-controls', 'aria-labelledby', 'aria-describedby', 'for']
        .flatMap((name) => page.flatMap((element) => attribute(element, name)?.split(' ') ?? []))
        .filter((id) => !ids.has(id));
    },
  },
  'nothing is loaded from another host': {
    broken: '<script src="https://example.org/a.js"></script>',
    find(page) {
      const loading = page.filter((each) => each.tagName !== 'a' && each.tagName !== 'link');
      const links = named(page, 'link').filter((each) => attribute(each, 'rel') !== 'canonical');
      return [...loading, ...links]
        .flatMap((each) => [attribute(each, 'src'), attribute(each, 'href')])
        .filter((address) => /^(https?:)?\/\//.test(address ?? ''));
    },
  },
};

const { files } = await renderSite({
  root: join(import.meta.dirname, '../../..'),
  assets: { stylesheet: '/a.css', withoutScript: '/b.css', early: '/a.js', main: '/b.js' },
  repository: null,
});
const pages = [...files]
  .filter(([path]) => path.endsWith('.html'))
  .map(([path, html]) => [path, elementsIn(parse(html))] as const);

test.each(Object.entries(RULES))('on every page, %s', (_, { broken, find }) => {
  expect(find(elementsIn(parse(broken)))).toHaveLength(1);
  const breaking = pages.map(([path, page]) => [path, find(page)] as const);
  expect(breaking.filter(([, found]) => found.length > 0)).toEqual([]);
});
