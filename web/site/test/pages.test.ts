import { join } from 'node:path';
import { parse } from 'parse5';
import { expect, test } from 'vitest';
import { EXAMPLE_REPOSITORY } from '../src/example-addresses.ts';
import { SERVICE_MARK } from '../src/shell.ts';
import { renderSite } from '../src/pages.ts';

const root = join(import.meta.dirname, '../../..');
const assets = {
  stylesheet: '/docs/assets/site.css',
  withoutScript: '/docs/assets/without-script.css',
  early: '/docs/assets/early.js',
  main: '/docs/assets/main.js',
};
const site = await renderSite({ root, assets, repository: null });
const pages = [...site.files].filter(([path]) => path.endsWith('.html'));

/** Addresses that the service answers itself. */
const SERVED = new Set([
  '/',
  '/app',
  '/icon.svg',
  '/openapi.json',
  '/asyncapi.json',
  '/status.json',
  '/status/history.json',
  '/status/incidents.atom',
  ...Object.values(assets),
]);

function idsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
}

test('every link leads to a page that exists, and every anchor to one of its headings', () => {
  const ids = new Map(
    pages.map(([path, html]) => [path.replace(/\/index\.html$/, ''), idsOf(html)]),
  );
  const images = new Set(
    [...site.images].map((path) => (path.startsWith('docs/') ? `/${path}` : `/docs/files/${path}`)),
  );
  const broken: string[] = [];
  for (const [path, html] of pages) {
    const own = path.replace(/\/index\.html$/, '');
    for (const [, target = ''] of html.matchAll(/ (?:href|src)="([^"]+)"/g)) {
      if (/^(https?|mailto|wss?):/.test(target) || target.startsWith(SERVICE_MARK)) continue;
      const [address = '', anchor] = decodeURI(target).split('#');
      const page = address === '' ? own : address;
      const known = ids.get(page);
      const isFile = site.files.has(page) || SERVED.has(page) || images.has(page);
      if (known === undefined && !isFile) broken.push(`${own}: ${target}`);
      else if (anchor !== undefined && known !== undefined && !known.has(anchor)) {
        broken.push(`${own}: ${target}`);
      }
    }
  }
  expect(pages.length).toBeGreaterThan(100);
  expect(broken).toEqual([]);
});

test('every page is HTML without parse errors', () => {
  const errors = pages.flatMap(([path, html]) => {
    const found: string[] = [];
    parse(html, {
      onParseError: ({ code, startLine }) => found.push(`${path}:${startLine}: ${code}`),
    });
    return found;
  });
  expect(errors).toEqual([]);
});

test('no page has an inline script, an inline style or an event handler', () => {
  const inline = /<script(?![^>]*\ssrc=)|<style|<[a-z][^>]*\s(style|on[a-z]+)=/i;
  expect(pages.filter(([, html]) => inline.test(html)).map(([path]) => path)).toEqual([]);
});

test('every page has one first heading, a title and a description of its own', () => {
  const titles = pages.map(([, html]) => /<title>([^<]+)<\/title>/.exec(html)?.[1] ?? '');
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
  for (const [path, html] of pages) {
    expect([path, html.match(/<h1[ >]/g)?.length]).toEqual([path, 1]);
    expect([path, /<meta name="description" content="[^"]{10,}"/.test(html)]).toEqual([path, true]);
  }
});

test('ids are unique within a page', () => {
  for (const [path, html] of pages) {
    const all = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect([path, all.filter((id, at) => all.indexOf(id) !== at)]).toEqual([path, []]);
  }
});

test('every page is served as Markdown too, and its links lead to Markdown', () => {
  const markdown = [...site.files].filter(([path]) => path.endsWith('.md'));
  expect(markdown.length).toBe(site.pages);
  for (const [path, text] of markdown) {
    const links = [
      ...text.replaceAll(/^```.*?^```/gms, '').matchAll(/\]\((\/(?:docs|changelog)[^)#]*)/g),
    ];
    const dead = links
      .map(([, link = '']) => link)
      .filter((link) => link.endsWith('.md') && !site.files.has(link));
    expect([path, dead]).toEqual([path, []]);
  }
});

test('llms.txt lists the pages, and llms-full.txt contains the text for people who use the API', () => {
  const list = site.files.get('/llms.txt') ?? '';
  expect(list).toContain('POST /v1/asr/sessions');
  expect(list).toContain('(/docs/reference/stream.md)');
  const full = site.files.get('/llms-full.txt') ?? '';
  expect(full).toContain('<!-- /docs/reference/stream -->');
  expect(full.length).toBeLessThan(1_000_000);
});

test('a build that knows its repository links to sources, offers to edit each page, and clones from it', async () => {
  const repository = 'https://code.example.net/speech';
  const { files } = await renderSite({ root, assets, repository });
  const page = files.get('/docs/errors/index.html') ?? '';
  expect(page).toContain(`href="${repository}/edit/main/docs/errors.md"`);
  expect(cloned(site.files)).toEqual(new Set([`git clone ${EXAMPLE_REPOSITORY}`]));
  expect(cloned(files)).toEqual(new Set([`git clone ${repository}`]));
});

/** The commands of all pages that clone a repository. */
function cloned(files: ReadonlyMap<string, string>): Set<string> {
  return new Set([...files.values()].flatMap((text) => text.match(/git clone [^\s<]+/g) ?? []));
}
