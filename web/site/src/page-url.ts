/** Pages outside docs/ that are not the README of a package. */
const OTHERS: Readonly<Record<string, string>> = {
  'CHANGELOG.md': '/changelog',
  'CONTRIBUTING.md': '/docs/contributing',
  'CODE_OF_CONDUCT.md': '/docs/code-of-conduct',
  'SECURITY.md': '/docs/security',
  'core/models/MODEL_CARD.md': '/docs/models/model-card',
};

/** The Markdown file of the first page. It is the index of docs/ on GitHub. */
export const HOME = 'docs/README.md';

/** Returns the URL path of a Markdown file: docs/x/y.md is /docs/x/y, and clients/sdk/README.md is /docs/packages/sdk. */
export function urlOf(path: string): string {
  const other = OTHERS[path];
  if (other !== undefined) return other;
  if (path.startsWith('docs/')) return `/${path.replace(/(\/README)?\.md$/, '')}`;
  const name = /^(?:(?:core|clients|web|proof)\/)?(?:integrations\/)?(.+)\/README\.md$/.exec(
    path,
  )?.[1];
  if (name === undefined)
    throw new Error(`${path} has no URL: add it to web/site/src/page-url.ts.`);
  return `/docs/packages/${name}`;
}
