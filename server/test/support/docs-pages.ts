import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const SITE = join(import.meta.dirname, '../../../site/dist/site');

/** The addresses of all pages of the built documentation. */
export async function docsPages(): Promise<string[]> {
  const files = await readdir(SITE, { recursive: true });
  const pages = files
    .filter((file) => file.endsWith('/index.html'))
    .map((file) => `/${file.slice(0, -'/index.html'.length)}`)
    .toSorted();
  if (pages.length === 0) throw new Error('The documentation has no pages.');
  return pages;
}

/** Pages with each layout and element of the design. Tests look at them on every device and in both themes. */
export const SHOWN_PAGES = [
  '/docs',
  '/docs/start/quickstart',
  '/docs/concepts/sessions-and-credit',
  '/docs/guides/browser',
  '/docs/guides/telephony',
  '/docs/streaming',
  '/docs/reference/http',
  '/docs/reference/stream',
  '/docs/errors',
  '/docs/packages/sdk',
  '/docs/models/model-card',
  '/docs/configuration',
  '/changelog',
  '/status',
] as const;
