import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { ApiError, presentError, toApiError } from '../platform/api-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The error code of the response, for the log line and the counters. */
    refusal: ApiError | null;
  }
}

/**
 * Sends every error response in one format. There is no 500: unexpected errors are our fault and
 * retryable, so they are 503.
 */
export function answerErrors(app: FastifyInstance, deps: Deps): void {
  app.decorateRequest('refusal', null);
  app.setErrorHandler((error, request, reply) => {
    const visible = fromFastify(error);
    if (visible.code === 'internal_error') {
      deps.log.error({ err: error, requestId: request.id }, 'A request failed unexpectedly.');
    }
    sendError(visible, request, reply);
  });
  // Unknown paths get 404 before any other check.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) {
      done();
      return;
    }
    const allowed = allowedMethods(app, request);
    if (allowed.length === 0) throw new ApiError('route_not_found');
    void reply.header('allow', allowed.join(', '));
    throw new ApiError('method_not_allowed');
  });
}

export function sendError(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
  request.refusal = error;
  void reply.headers(error.headers);
  if (error.retryAfterSeconds !== null) void reply.header('retry-after', error.retryAfterSeconds);
  if (error.status === 401) void reply.header('www-authenticate', 'Bearer');
  if (error.code === 'upgrade_required') void reply.header('upgrade', 'websocket');
  // The connection may still carry the rest of an unread body.
  if (error.code === 'request_too_large' || error.code === 'malformed_request') {
    void reply.header('connection', 'close');
  }
  void reply
    .code(error.status)
    .header('cache-control', 'no-store')
    .send(presentError(error, request.id));
}

/** Maps anything thrown in a request, Fastify's own errors included, to the error that the caller sees. */
export function fromFastify(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { code = '', validation } = asFastifyError(error);
  const rule = validation?.[0]?.keyword;
  if (rule === 'required') return new ApiError('missing_parameter');
  if (rule === 'additionalProperties') return new ApiError('unknown_parameter');
  if (rule !== undefined) return new ApiError('invalid_parameter');
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('request_too_large');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return new ApiError('unsupported_media_type');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('malformed_request');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ApiError('route_not_found');
    default:
      return toApiError(error);
  }
}

function asFastifyError(error: unknown): Partial<FastifyError> {
  return error instanceof Error ? error : {};
}

const METHODS = ['GET', 'HEAD', 'POST'] as const;

function allowedMethods(app: FastifyInstance, request: FastifyRequest): string[] {
  const [path = '/'] = request.url.split('?');
  return METHODS.filter((method) => app.findRoute({ method, url: path }) !== null);
}
