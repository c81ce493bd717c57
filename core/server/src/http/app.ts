import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { LIMITS, STREAM_PATH } from '@svc-asr/protocol';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import type { Certificate } from '../platform/network/tls.ts';
import { ApiError } from '../platform/api-error.ts';
import { trustProxies } from '@svc-asr/runtime/network.ts';
import { newRequestId, REQUEST_ID_HEADER } from '../platform/ids.ts';
import { answerBrokenRequests, answerConnect } from './broken-requests.ts';
import { continueWithBody } from './continue-with-body.ts';
import { limitConnections } from './connection-limits.ts';
import { documentRoutes } from './documents.ts';
import { answerErrors, fromFastify, sendError } from './error-handler.ts';
import { modelRoutes } from './models.ts';
import { observeRequests } from './observe.ts';
import { operationRoutes } from './operations.ts';
import { parseJsonBody } from './request-body.ts';
import { sessionRoutes } from './sessions.ts';
import { statusRoutes } from './status.ts';
import { usageRoutes } from './usage.ts';

/** Limits for slow clients: TLS handshake 10 s, headers 5 s, request 10 s, checked every second. */
export const PATIENCE = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 72_000,
  maxHeaderSize: 8 * 1024,
  handshakeTimeout: 10_000,
} as const;

/** Path and query. The longest is a search in the console. */
export const TARGET_LENGTH_MAX = 2_048;

/** Creates the HTTP server, not yet listening. With a certificate it terminates TLS itself. */
export function buildApp(deps: Deps, certificate: Certificate | null = null): FastifyInstance {
  const isTrustedProxy = trustProxies(deps.config.trustedProxies);
  // Only for WebSockets, and only once the gateway is ready. Other upgrade requests get a normal response.
  const shouldUpgradeCallback = (request: IncomingMessage): boolean => {
    if (!offersWebSocket(request) || app.server.listenerCount('upgrade') === 0) return false;
    connections.release(request.socket);
    return true;
  };
  // Node's own response to a request without Host has no body. Ours is below.
  const options = { ...PATIENCE, shouldUpgradeCallback, requireHostHeader: false };
  const app: FastifyInstance = Fastify({
    serverFactory: (handler) =>
      certificate === null
        ? createServer(options, handler)
        : createSecureServer({ ...options, ...certificate }, handler),
    forceCloseConnections: 'idle',
    // Fastify's own 503 during shutdown has neither our error body nor a request id, so requests are served as usual.
    return503OnClosing: false,
    bodyLimit: LIMITS.requestBodyBytes,
    // Without configured proxies the header is ignored.
    trustProxy: deps.config.trustedProxies.length > 0 && isTrustedProxy,
    // observe.ts logs one line per request. A child logger per request would cost more than the request itself.
    logger: false,
    requestIdHeader: false,
    genReqId: newRequestId,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } },
    frameworkErrors: (error, request, reply) => {
      void reply.header(REQUEST_ID_HEADER, request.id);
      sendError(fromFastify(error), request, reply);
    },
    clientErrorHandler: answerBrokenRequests(deps),
  });
  // Ignores unknown expectations. Node would send an empty 417.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response));
  // Node would send "100 Continue" at once. Ours waits until the request is known to be answered by its body.
  app.server.on('checkContinue', (request, response) => app.routing(request, response));
  app.server.on('connect', answerConnect(deps));
  app.server.maxConnections = deps.config.limits.connections;
  const connections = limitConnections(app.server, {
    perAddress: deps.config.limits.connectionsPerAddress,
    // All clients of a proxy share its address, and the proxy limits them.
    isExempt: isTrustedProxy,
  });
  app.decorateRequest('caller', null);
  app.decorateRequest('reserved', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (_request, body, done) => {
      try {
        done(null, parseJsonBody(body));
      } catch (error) {
        done(fromFastify(error));
      }
    },
  );
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header(REQUEST_ID_HEADER, request.id).header('x-content-type-options', 'nosniff');
    const { host, 'transfer-encoding': coding = 'chunked' } = request.headers;
    const isNamed = host !== undefined || request.raw.httpVersion !== '1.1';
    const isPlain = coding.trim().toLowerCase() === 'chunked';
    if (!isNamed || !isPlain) done(new ApiError('malformed_request'));
    else if (request.url.length > TARGET_LENGTH_MAX)
      done(new ApiError('request_headers_too_large'));
    else done();
  });
  app.addHook('preParsing', continueWithBody);
  app.addHook('onSend', (_request, reply, payload, done) => {
    // A keep-alive connection would delay shutdown and let a load balancer send more requests.
    if (deps.lifecycle.draining) void reply.header('connection', 'close');
    done(null, payload);
  });
  observeRequests(app, deps);
  answerErrors(app, deps);
  // Streaming nodes serve clients without API keys, and their database role can't reserve.
  if (deps.config.role !== 'node') {
    modelRoutes(app, deps);
    sessionRoutes(app, deps);
    usageRoutes(app, deps);
    documentRoutes(app);
    statusRoutes(app, deps);
  }
  operationRoutes(app, deps);
  app.get(STREAM_PATH, ({ raw }) => {
    // A WebSocket request ends up here while the gateway is not ready.
    throw new ApiError(offersWebSocket(raw) ? 'service_unavailable' : 'upgrade_required');
  });
  return app;
}

/** Both headers are needed (RFC 6455, section 4.1). Without Connection, Node.js treats it as an ordinary request. */
function offersWebSocket({ headers }: IncomingMessage): boolean {
  const options = headers.connection?.toLowerCase().split(',') ?? [];
  const isUpgrade = options.some((option) => option.trim() === 'upgrade');
  return isUpgrade && headers.upgrade?.toLowerCase() === 'websocket';
}
