import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Adds a cell to the files that the edge (deploy/cells/edge.cfg) reads: a backend and a line in cells.map. Returns the
 * cell's number, counted from 1. The edge must be reloaded afterwards.
 */
export async function addToEdge(
  folder: string,
  cell: string,
  servers: readonly string[],
): Promise<number> {
  await mkdir(join(folder, 'backends'), { recursive: true });
  const lines = servers.map((address, at) => `  server ${cell}-${at + 1} ${address}`);
  await writeFile(join(folder, 'backends', `${cell}.cfg`), backend(cell, lines));
  // The edge learns keys by itself; an empty file lets it start.
  await writeFile(join(folder, 'keys.map'), '', { flag: 'a' });
  const map = join(folder, 'cells.map');
  const known = await readFile(map, 'utf8').catch(() => '');
  const cells = known.split('\n').filter((line) => /^[0-9a-z]{2} /.test(line));
  const at = cells.findIndex((line) => line.startsWith(`${cell} `));
  if (at >= 0) return at + 1;
  // The first cell gets keys without a cell name, and sign-ups.
  const first = cells.length === 0 ? `default ${cell}\nsignup ${cell}\n` : '';
  await writeFile(map, `${first}${cell} ${cell}\n`, { flag: 'a' });
  return cells.length + 1;
}

function backend(cell: string, servers: readonly string[]): string {
  return `backend ${cell}
  balance leastconn
  # Takes a process out within two seconds when it is not ready. Open streams continue.
  option httpchk GET /readyz
  http-check expect status 200
  default-server check inter 1s fall 2 rise 1
${servers.join('\n')}
`;
}
