import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { errorResponse, SvcClient } from '@svc-asr/sdk';
import { build } from 'esbuild';

/** The backend: holds the API key, creates sessions and serves the page. */

// The deadline is for the page: it gets a refusal at once, and shows it while it waits.
const client = new SvcClient({ deadlineMs: 3_000 });
const html = await readFile(join(import.meta.dirname, 'index.html'));
const page = await build({
  entryPoints: [join(import.meta.dirname, 'page.ts')],
  bundle: true,
  format: 'esm',
  write: false,
});

const server = createServer((request, response) => {
  switch (`${request.method} ${request.url}`) {
    case 'GET /':
      response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
      return;
    case 'GET /page.js':
      response.setHeader('content-type', 'text/javascript').end(page.outputFiles[0]?.contents);
      return;
    case 'POST /session':
      // Authenticate your user here. Every session spends your credit.
      void relaySession(request, response);
      return;
    default:
      response.writeHead(404).end();
  }
});

async function relaySession(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const left = new AbortController();
  // A browser that leaves cancels the request.
  response.on('close', () => left.abort());
  try {
    const session = await client.sessions.create(
      { model: 'svc-asr-kikuyu-v1', maxAudioSeconds: 300 },
      { signal: left.signal, idempotencyKey: request.headers['idempotency-key']?.toString() },
    );
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(201, headers).end(JSON.stringify(session));
  } catch (error) {
    const { status, headers, body } = errorResponse(error);
    response.writeHead(status, headers).end(body);
  }
}

server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : address;
  console.log(`http://127.0.0.1:${port}`);
});
