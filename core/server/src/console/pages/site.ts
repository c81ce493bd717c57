import { readdir, readFile } from 'node:fs/promises';
import type { SharedBody } from '../../platform/network/shared-body.ts';
import { extname, join, relative, sep } from 'node:path';

/** One file of the built pages. */
export interface SiteFile {
  readonly type: string;
  /** The file and its compressed forms, read on the first request and then kept. */
  readonly body: () => Promise<SharedBody>;
  /** The file name contains a content hash, so browsers may cache it forever. */
  readonly immutable: boolean;
}

/** Files by URL path. They are listed once, at the start, so a request can't name any other file. */
export type Site = ReadonlyMap<string, SiteFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.png': 'image/png',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
};

/** Empty when the pages were not built. */
export async function loadSite(folder: string): Promise<Site> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const known = new Set(paths);
  const site = new Map<string, SiteFile>();
  for (const path of paths) {
    const type = TYPES[extname(path)];
    if (type === undefined) continue;
    const address = `/${relative(folder, path).split(sep).join('/')}`;
    site.set(address, {
      type,
      body: readOnce(path, known),
      immutable: /^(\/docs)?\/assets\//.test(address),
    });
  }
  return site;
}

function readOnce(path: string, known: ReadonlySet<string>): () => Promise<SharedBody> {
  const read = (file: string) => (known.has(file) ? readFile(file) : null);
  async function readAll(): Promise<SharedBody> {
    return {
      plain: await readFile(path),
      brotli: await read(`${path}.br`),
      gzip: await read(`${path}.gz`),
    };
  }
  let body: Promise<SharedBody> | null = null;
  return () => {
    body ??= readAll().catch((error: unknown) => {
      body = null;
      throw error;
    });
    return body;
  };
}
