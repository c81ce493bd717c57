import { createServer, type IncomingMessage, type Server } from 'node:http';
import {
  guarded,
  guardHttpServer,
  HTTP_LIMITS,
  readTarget,
} from '@svc-asr/runtime/server-guard.ts';
import { hasBearer } from '@svc-asr/runtime/server-access.ts';
import { answerForm, type FormHandler } from './forms.ts';
import type { BridgeMetrics } from './metrics.ts';

/** The HTTP server of the bridge: pages for operators, and forms that telephone systems post to `/NAME/TOKEN`. */
export function createPages(input: {
  readonly metrics: BridgeMetrics;
  /** Null: no metrics. */
  readonly metricsToken: string | null;
  readonly isDraining: () => boolean;
  /** The text of `/readyz`. */
  readonly notice: string;
  /** Paths that only take WebSockets. */
  readonly isCallPath: (path: string) => boolean;
  readonly isAdmitted: (request: IncomingMessage) => boolean;
  readonly forms: Readonly<Record<string, FormHandler>>;
}): Server {
  const { metrics, metricsToken, isDraining, notice, isCallPath, isAdmitted, forms } = input;
  const server = createServer(
    HTTP_LIMITS,
    guarded(async (request, response) => {
      const { path, query } = readTarget(request);
      if (path === '/healthz') return void response.end('ok\n');
      if (path === '/readyz') {
        return void response.writeHead(isDraining() ? 503 : 200).end(notice);
      }
      if (path === '/metrics' && metricsToken !== null) {
        if (!hasBearer(request, metricsToken)) return void response.writeHead(401).end();
        response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
        return void response.end(metrics.text());
      }
      const [, name = ''] = path.split('/');
      const handler = Object.hasOwn(forms, name) ? forms[name] : undefined;
      if (handler !== undefined && request.method === 'POST' && isAdmitted(request)) {
        return answerForm(request, response, { query, handler });
      }
      response.writeHead(isCallPath(path) ? 426 : 404).end();
    }),
  );
  guardHttpServer(server);
  return server;
}
