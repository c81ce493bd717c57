import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const COMPRESSIBLE = /\.(html|js|css|svg|json|txt|md)$/;

/** Compresses the built files. */
export function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    writeBundle: (options) => compressFolder(options.dir ?? '', constants.BROTLI_MAX_QUALITY),
  };
}

/** Writes .br and .gz files next to every text file, so that serving them needs no CPU time. */
export async function compressFolder(folder: string, quality: number): Promise<void> {
  const files = await readdir(folder, { recursive: true });
  await Promise.all(
    files
      .filter((file) => COMPRESSIBLE.test(file))
      .map((file) => compress(join(folder, file), quality)),
  );
}

async function compress(path: string, quality: number): Promise<void> {
  const content = await readFile(path);
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: quality } };
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content, options));
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
}
