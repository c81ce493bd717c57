import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { listen } from '@svc-asr/runtime/listen.ts';

/** Serves files by path and counts requests. */
export interface FileServer {
  readonly url: string;
  readonly asked: { readonly path: string; readonly range: string | undefined }[];
  /** Breaks the next connection after this many bytes have arrived. */
  breakAfter(bytes: number, arrived: () => Promise<unknown>): void;
  close(): Promise<void>;
}

export async function serveFiles(
  files: ReadonlyMap<string, Buffer>,
  options: {
    readonly ranges?: boolean;
    /** Redirects to files, by path. */
    readonly moved?: ReadonlyMap<string, string>;
  } = {},
): Promise<FileServer> {
  const asked: { path: string; range: string | undefined }[] = [];
  let broken = { after: Infinity, arrived: (): Promise<unknown> => Promise.resolve() };
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    const { range } = request.headers;
    asked.push({ path, range });
    const moved = options.moved?.get(path);
    if (moved !== undefined) return void response.writeHead(302, { location: moved }).end();
    const file = files.get(path);
    if (file === undefined) return void response.writeHead(404).end();
    const from =
      options.ranges === false ? 0 : Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    const body = file.subarray(from);
    const headers = { 'content-length': body.length };
    response.writeHead(from > 0 ? 206 : 200, headers);
    const { after, arrived } = broken;
    broken = { ...broken, after: Infinity };
    if (after >= body.length) return void response.end(body);
    response.write(body.subarray(0, after));
    void arrived().finally(() => response.destroy());
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    breakAfter: (after, arrived) => {
      broken = { after, arrived };
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
