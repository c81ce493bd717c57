import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { SvcClient, SvcError } from '@svc-asr/sdk';
import { build } from 'esbuild';

/** The backend: holds the API key, creates sessions and serves the page. */
const client = new SvcClient();
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
      relaySession()
        .then(({ status, body }) =>
          response
            .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
            .end(JSON.stringify(body)),
        )
        .catch(() => response.writeHead(500).end());
      return;
    default:
      response.writeHead(404).end();
  }
});

async function relaySession(): Promise<{ status: number; body: unknown }> {
  try {
    const session = await client.sessions.create({
      model: 'svc-asr-kikuyu-v1',
      maxAudioSeconds: 300,
    });
    return { status: 201, body: session };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { code, type, message, requestId } = error;
    return {
      status: error.status ?? 503,
      body: { error: { code, type, message, request_id: requestId } },
    };
  }
}

server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : address;
  console.log(`http://127.0.0.1:${port}`);
});
