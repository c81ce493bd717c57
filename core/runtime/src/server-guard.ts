import type {
  IncomingMessage,
  RequestListener,
  Server as HttpServer,
  ServerResponse,
} from 'node:http';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Keeps a process alive whatever its clients send. For Node only, so `index.ts` doesn't export it. A socket error
 * without a listener, an exception in a listener and a rejected promise each end a Node process.
 */

/** For `createServer`. A request's target and headers are small wherever ours are read. Node's own limit is 16 KiB. */
export const HTTP_LIMITS = { maxHeaderSize: 8 * 1024 } as const;
/** Headers that take longer are a slow attack. Node's own limits are 60 and 300 s. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;

/** Closes the socket on any error. */
export function guardSocket(socket: Duplex): void {
  socket.on('error', () => socket.destroy());
}

/** Guards all connections of a server for their whole life, also after an upgrade. */
export function guardServer(server: Server): void {
  server.on('connection', guardSocket);
  server.on('secureConnection', guardSocket);
}

export function guardHttpServer(server: HttpServer): void {
  guardServer(server);
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
}

/** Answers a request with 500 if its handler fails, instead of ending the process. */
export function guarded(
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): RequestListener {
  return (request, response) => {
    void (async () => answer(request, response))().catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  };
}

/** The path and the query of a request. Never throws, unlike `new URL`, for which `//` is invalid. */
export function readTarget(request: Pick<IncomingMessage, 'url'>): {
  readonly path: string;
  readonly query: URLSearchParams;
} {
  const target = request.url ?? '/';
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  return { path, query: new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1)) };
}
