import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listen } from '@svc-asr/runtime/listen.ts';
import { errorResponse, type SvcClient } from '@svc-asr/sdk';
import { build } from 'esbuild';
import { KIKUYU } from '../emulator-client.ts';

const ROOT = join(import.meta.dirname, '../../../..');
export const RECORDING = join(ROOT, 'core/models/fixtures/kikuyu-1.wav');

const PAGE =
  '<!doctype html><meta charset="utf-8"><div id="root"></div><script type="module" src="/s.js"></script>';

export interface PageServer {
  readonly url: string;
  close(): void;
}

/** Serves a page with a bundled script, sessions at /session and a recording. */
export async function servePage(input: {
  script: string;
  /** Default: an empty page that loads the script. */
  html?: string;
  /** Where the script's imports are resolved. */
  resolveDir: string;
  client: SvcClient;
}): Promise<PageServer> {
  const { outputFiles } = await build({
    stdin: { contents: input.script, resolveDir: input.resolveDir, loader: 'ts' },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    write: false,
  });
  const recording = await readFile(RECORDING);
  const server = createServer((request, response) => {
    if (request.url === '/s.js' || request.url === '/page.js') {
      response.setHeader('content-type', 'text/javascript').end(outputFiles[0]?.contents);
    } else if (request.url === '/recording.wav') {
      response.end(recording);
    } else if (request.url === '/session') {
      const idempotencyKey = request.headers['idempotency-key']?.toString();
      void input.client.sessions
        .create({ model: KIKUYU, maxAudioSeconds: 300 }, { idempotencyKey })
        .then((session) => response.writeHead(201).end(JSON.stringify(session)))
        .catch((error: unknown) => {
          const { status, headers, body } = errorResponse(error);
          response.writeHead(status, headers).end(body);
        });
    } else response.setHeader('content-type', 'text/html').end(input.html ?? PAGE);
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
