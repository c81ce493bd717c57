import { join } from 'node:path';
import { MICROPHONE_WORKLET } from '@svc-asr/sdk/microphone';
import tailwind from '@tailwindcss/vite';
import { defineConfig, type Plugin } from 'vite';
import { renderPublicPage } from './src/public/page.ts';
import { precompress } from './precompress.ts';

const here = import.meta.dirname;

export default defineConfig({
  root: here,
  plugins: [tailwind(), publicPages(), microphoneWorklet(), precompress()],
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
  return {
    name: 'public-pages',
    transformIndexHtml: {
      order: 'pre',
      handler: (html, { filename }) =>
        html.replace('<!--page-->', () =>
          renderPublicPage(filename.endsWith('sw.html') ? 'sw' : 'en'),
        ),
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
