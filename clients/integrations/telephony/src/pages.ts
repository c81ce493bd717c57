import { createServer, type Server } from 'node:http';
import {
  guarded,
  guardHttpServer,
  HTTP_LIMITS,
  readTarget,
} from '@svc-asr/runtime/server-guard.ts';
import { hasBearer } from '@svc-asr/runtime/server-access.ts';
import type { BridgeMetrics } from './metrics.ts';

/** The HTTP server of the bridge with its pages for operators: `/healthz`, `/readyz` and `/metrics`. */
export function createPages(input: {
  readonly metrics: BridgeMetrics;
  /** Null: no metrics. */
  readonly metricsToken: string | null;
  readonly isDraining: () => boolean;
  /** Paths that only take WebSockets. */
  readonly isCallPath: (path: string) => boolean;
}): Server {
  const { metrics, metricsToken, isDraining, isCallPath } = input;
  const server = createServer(
    HTTP_LIMITS,
    guarded((request, response) => {
      const { path } = readTarget(request);
      if (path === '/healthz') return void response.end('ok\n');
      if (path === '/readyz') return void response.writeHead(isDraining() ? 503 : 200).end();
      if (path === '/metrics' && metricsToken !== null) {
        if (!hasBearer(request, metricsToken)) return void response.writeHead(401).end();
        response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
        return void response.end(metrics.text());
      }
      response.writeHead(isCallPath(path) ? 426 : 404).end();
    }),
  );
  guardHttpServer(server);
  return server;
}
