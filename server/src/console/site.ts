import { readdir, readFile } from 'node:fs/promises';
import type { SharedBody } from '../platform/shared-body.ts';
import { extname, join, relative, sep } from 'node:path';

/** One file of the built console, with its compressed forms, ready to send. */
export interface SiteFile {
  readonly type: string;
  readonly body: SharedBody;
  /** The file name contains a content hash, so browsers may cache it forever. */
  readonly immutable: boolean;
}

/** Files by URL path. All are in memory, so a request can't name any other file. */
export type Site = ReadonlyMap<string, SiteFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.mp3': 'audio/mpeg',
};

/** Empty when the console was not built. */
export async function loadSite(folder: string): Promise<Site> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const known = new Set(paths);
  const read = (path: string) => (known.has(path) ? readFile(path) : null);
  const site = new Map<string, SiteFile>();
  for (const path of paths) {
    const type = TYPES[extname(path)];
    if (type === undefined) continue;
    const address = `/${relative(folder, path).split(sep).join('/')}`;
    site.set(address, {
      type,
      body: {
        plain: await readFile(path),
        brotli: await read(`${path}.br`),
        gzip: await read(`${path}.gz`),
      },
      immutable: address.startsWith('/assets/'),
    });
  }
  return site;
}
