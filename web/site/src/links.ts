import { posix } from 'node:path';
import { EXAMPLE_SERVICE } from './example-addresses.ts';

/** Where the links of a page lead. */
export interface LinkMap {
  /** URL by the path of a Markdown file. */
  readonly pages: ReadonlyMap<string, string>;
  /** The address of the repository's files, or null if the build doesn't know it. */
  readonly repository: string | null;
  /** Called for each image, with its path in the repository. */
  readonly onImage: (path: string) => void;
}

/** Files that the service serves itself. */
const SERVED: Readonly<Record<string, string>> = {
  'docs/openapi.json': '/openapi.json',
  'docs/asyncapi.json': '/asyncapi.json',
  'README.md': '/docs',
  'llms.txt': '/llms.txt',
};

const IMAGE = /\.(svg|webp|png)$/;

/** Returns the address for a link in `from`, or null if nothing can be linked: the text then stays plain. */
export function resolveLink(from: string, href: string, map: LinkMap): string | null {
  if (href.startsWith(`${EXAMPLE_SERVICE}/`)) return href.slice(EXAMPLE_SERVICE.length);
  if (/^[a-z]+:/.test(href) || href.startsWith('#')) return href;
  const [file = '', anchor] = href.split('#');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (file.startsWith('/')) return href;
  const path = posix.normalize(posix.join(posix.dirname(from), file)).replace(/\/$/, '');
  const url = map.pages.get(path) ?? map.pages.get(`${path}/README.md`) ?? SERVED[path];
  if (url !== undefined) return url + hash;
  if (IMAGE.test(path)) {
    map.onImage(path);
    return imageUrl(path);
  }
  return map.repository === null ? null : `${map.repository}/blob/main/${path}${hash}`;
}

/** The URL of an image: docs/console/x.webp is /docs/console/x.webp, models/x.svg is /docs/files/models/x.svg. */
export function imageUrl(path: string): string {
  return path.startsWith('docs/') ? `/${path}` : `/docs/files/${path}`;
}
