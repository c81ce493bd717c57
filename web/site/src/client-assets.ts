import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import tailwind from '@tailwindcss/vite';
import { build } from 'vite';
import type { Assets } from './shell.ts';

const CLIENT = join(import.meta.dirname, '../client');
const MANIFEST = 'manifest.json';

/** Bundles the stylesheets and scripts into `out`/assets, under names that contain a hash of their content. */
export async function buildClientAssets(out: string): Promise<Assets> {
  await build({
    configFile: false,
    root: CLIENT,
    base: '/docs/',
    logLevel: 'warn',
    plugins: [tailwind()],
    build: {
      outDir: out,
      emptyOutDir: false,
      manifest: MANIFEST,
      target: ['chrome87', 'firefox78', 'safari14'],
      assetsInlineLimit: 0,
      modulePreload: false,
      rolldownOptions: {
        input: ['site.css', 'without-script.css', 'early.ts', 'main.ts'].map((file) =>
          join(CLIENT, file),
        ),
      },
    },
  });
  const manifest: Record<string, { file: string }> = JSON.parse(
    await readFile(join(out, MANIFEST), 'utf8'),
  );
  await rm(join(out, MANIFEST));
  const address = (name: string): string => {
    const file = manifest[name]?.file;
    if (file === undefined) throw new Error(`${name} was not built.`);
    return `/docs/${file}`;
  };
  return {
    stylesheet: address('site.css'),
    withoutScript: address('without-script.css'),
    early: address('early.ts'),
    main: address('main.ts'),
  };
}
