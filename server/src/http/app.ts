import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { LIMITS, STREAM_PATH } from '@svc-asr/protocol';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import type { Certificate } from '../tls.ts';
import { ApiError } from '../errors.ts';
import { newRequestId } from '../ids.ts';
import { answerBrokenRequests } from './broken-requests.ts';
import { documentRoutes } from './documents.ts';
import { answerErrors, sendError, toApiError } from './error-handler.ts';
import { modelRoutes } from './models.ts';
import { observeRequests } from './observe.ts';
import { operationRoutes } from './operations.ts';
import { parseJsonBody } from './request-body.ts';
import { sessionRoutes } from './sessions.ts';
import { usageRoutes } from './usage.ts';

export const REQUEST_ID_HEADER = 'x-request-id';

/** Slow clients are shed: a header within 5 s, a request within 10 s, looked at every second. */
const PATIENCE = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 72_000,
  maxHeaderSize: 8 * 1024,
} as const;

/** The HTTP side of the service, not yet listening. With a certificate it speaks TLS itself. */
export function buildApp(deps: Deps, certificate: Certificate | null = null): FastifyInstance {
  const { trustedProxies } = deps.config;
  // Only a WebSocket, and only once somebody is there to take it; every other offer is declined by answering as ever.
  const shouldUpgradeCallback = (request: IncomingMessage): boolean =>
    offersWebSocket(request) && app.server.listenerCount('upgrade') > 0;
  // Node's own answer to a request without Host would be an empty one: ours is below.
  const options = { ...PATIENCE, shouldUpgradeCallback, requireHostHeader: false };
  const app: FastifyInstance = Fastify({
    serverFactory: (handler) =>
      certificate === null
        ? createServer(options, handler)
        : createSecureServer({ ...options, ...certificate }, handler),
    forceCloseConnections: 'idle',
    // Its own 503 on the way out would have neither our body nor our id: what arrives is answered as ever.
    return503OnClosing: false,
    bodyLimit: LIMITS.requestBodyBytes,
    // Without proxies the header is not even looked at.
    trustProxy: trustedProxies > 0 && ((_address, hop) => hop < trustedProxies),
    // Our own line a request stands in observe.ts; a child logger per request would cost more than the request.
    logger: false,
    requestIdHeader: false,
    genReqId: newRequestId,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } },
    frameworkErrors: (error, request, reply) => {
      void reply.header(REQUEST_ID_HEADER, request.id);
      sendError(toApiError(error), request, reply);
    },
    clientErrorHandler: answerBrokenRequests(deps),
  });
  // An expectation that we do not know is no reason for Node's empty 417.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response));
  app.server.maxConnections = deps.config.connectionsMax;
  app.decorateRequest('caller', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (_request, body, done) => {
      try {
        done(null, parseJsonBody(body));
      } catch (error) {
        done(toApiError(error));
      }
    },
  );
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header(REQUEST_ID_HEADER, request.id).header('x-content-type-options', 'nosniff');
    const isNamed = request.headers.host !== undefined || request.raw.httpVersion !== '1.1';
    done(isNamed ? undefined : new ApiError('malformed_request'));
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    // A connection kept alive would hold up the stop, and bring a balancer back to a process that is leaving.
    if (deps.lifecycle.draining) void reply.header('connection', 'close');
    done(null, payload);
  });
  observeRequests(app, deps);
  answerErrors(app, deps);
  // A streaming node faces clients that hold no key, with a database role that could not reserve anyway.
  if (deps.config.role !== 'node') {
    modelRoutes(app, deps);
    sessionRoutes(app, deps);
    usageRoutes(app, deps);
    documentRoutes(app);
  }
  operationRoutes(app, deps);
  app.get(STREAM_PATH, ({ raw }) => {
    // A WebSocket that comes here came before the streams could be served.
    throw new ApiError(offersWebSocket(raw) ? 'service_unavailable' : 'upgrade_required');
  });
  return app;
}

function offersWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}
