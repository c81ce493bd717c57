import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ClientRow } from './client-checks.ts';
import { CLIENTS } from './clients.ts';

const FILE = resolve(
  import.meta.dirname,
  '../../../../clients/integrations/compatible/clients/results.json',
);

/** Keeps results for the table in docs/guides/compatible-clients.md. Checks that were not run keep their earlier results. */
export async function writeResults(rows: readonly ClientRow[]): Promise<void> {
  const earlier: readonly ClientRow[] = JSON.parse(await readFile(FILE, 'utf8').catch(() => '[]'));
  const all = CLIENTS.flatMap(({ client, version }) => {
    const known = [...earlier, ...rows].filter(
      (row) => row.client === client && row.version === version,
    );
    const checks = Object.assign({}, ...known.map((row) => row.checks));
    return known.length === 0 ? [] : [{ client, version, checks }];
  });
  await writeFile(FILE, `${JSON.stringify(all, null, 2)}\n`);
}
