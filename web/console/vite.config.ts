import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MICROPHONE_WORKLET } from '@svc-asr/sdk/microphone';
import tailwind from '@tailwindcss/vite';
import { defineConfig, type Plugin } from 'vite';
import { readAccuracy } from './src/public/accuracy.ts';
import { renderHead } from './src/public/head.ts';
import { renderPublicPage } from './src/public/page.ts';
import { SAMPLES } from './src/screens/playground/samples.ts';
import { precompress } from './precompress.ts';

const here = import.meta.dirname;

export default defineConfig({
  root: here,
  plugins: [tailwind(), publicPages(), microphoneWorklet(), samples(), precompress()],
  build: {
    outDir: 'dist/site',
    emptyOutDir: true,
    target: ['chrome87', 'firefox78', 'safari14'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ['index.html', 'sw.html', 'app.html'].map((file) => join(here, file)),
    },
  },
});

/** Inserts the public page as static HTML, so that slow phones can show it before any script loads. */
function publicPages(): Plugin {
  const accuracy = readAccuracy(
    readFileSync(join(here, '../../core/models/MODEL_CARD.md'), 'utf8'),
  );
  return {
    name: 'public-pages',
    transformIndexHtml: {
      order: 'pre',
      handler(html, { filename }) {
        const language = filename.endsWith('sw.html') ? 'sw' : 'en';
        return html
          .replace('<!--head-->', () => renderHead(language))
          .replace('<!--page-->', () => renderPublicPage(language, accuracy));
      },
    },
  };
}

/** Emits the worklet as a file, because the content security policy forbids scripts created at run time. */
function microphoneWorklet(): Plugin {
  return {
    name: 'microphone-worklet',
    generateBundle() {
      this.emitFile({
        type: 'asset',
        fileName: 'microphone-worklet.js',
        source: MICROPHONE_WORKLET,
      });
    },
  };
}

/** Copies the recordings that the playground and the first program use. */
function samples(): Plugin {
  return {
    name: 'samples',
    async generateBundle() {
      for (const { name } of SAMPLES) {
        const source = await readFile(join(here, `../../core/models/fixtures/${name}.wav`));
        this.emitFile({ type: 'asset', fileName: `examples/${name}.wav`, source });
      }
    },
  };
}
