import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { StatusHistory } from '@svc-asr/protocol/service-status.ts';
import { readHistory } from '../nodes/status/history.ts';
import { incidentFeed } from '../nodes/status/incident-feed.ts';
import { probe } from '../nodes/status/probe.ts';
import type { Queryable } from '../platform/database/db.ts';
import { queryRow, statement, t } from '../platform/database/statement.ts';
import { Problem } from './problem.ts';

const SITE = join(import.meta.dirname, '../../../../web/site/dist/site');
const ASSETS = 'docs/assets';
const IS_ASSET = /\.(?:js|css)$/;
const SERVICE_MARK = '{{service}}';

const API_REPORTS = statement('select status_recorded($1) as recorded', { recorded: t.boolean() });

/**
 * Writes the page and its data, and removes scripts and styles of earlier versions. Returns how many files it wrote. A web
 * server never sees half a file.
 */
export async function exportStatus(
  db: Queryable,
  { folder, service }: { folder: string; service: string },
): Promise<number> {
  const page = await readFile(join(SITE, 'status/elsewhere.html'), 'utf8').catch(() => {
    throw new Problem('The status page is not built. Run `npm run site`, then retry.');
  });
  const { recorded } = await queryRow(db, API_REPORTS, ['api']);
  const status = await probe(db, recorded ? 'ready' : 'not_ready');
  const history: StatusHistory = await readHistory(db);
  const files = new Map<string, string | Buffer>();
  for (const name of await readdir(join(SITE, ASSETS))) {
    if (!IS_ASSET.test(name)) continue;
    files.set(`${ASSETS}/${name}`, await readFile(join(SITE, ASSETS, name)));
  }
  files.set('icon.svg', await readFile(join(SITE, 'icon.svg')));
  files.set('status.json', JSON.stringify(status));
  files.set('status/history.json', JSON.stringify(history));
  const feed = { url: service, at: history.written_at };
  files.set('status/incidents.atom', incidentFeed(history.incidents, feed));
  // Last, because it needs the others.
  files.set('index.html', page.replaceAll(SERVICE_MARK, escapeAttribute(service)));
  for (const [path, content] of files) await writeWhole(join(folder, path), content);
  for (const name of await readdir(join(folder, ASSETS))) {
    if (IS_ASSET.test(name) && !files.has(`${ASSETS}/${name}`))
      await rm(join(folder, ASSETS, name));
  }
  return files.size;
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}

async function writeWhole(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}
