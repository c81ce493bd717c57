import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseAway } from '../db.ts';
import type { Deps } from '../deps.ts';
import { ApiError, presentError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What was answered instead of success; for the log line and the counters. */
    refusal: ApiError | null;
  }
}

/** Every refusal leaves here, in one form. No 500 exists: the unexpected is our fault, and retrying may help. */
export function answerErrors(app: FastifyInstance, deps: Deps): void {
  app.decorateRequest('refusal', null);
  app.setErrorHandler((error, request, reply) => {
    const visible = toApiError(error);
    if (visible.code === 'internal_error') {
      deps.log.error({ err: error, requestId: request.id }, 'A request failed unexpectedly.');
    }
    sendError(visible, request, reply);
  });
  // Before anything else is looked at: what is not there has no body to be wrong about.
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
  // What follows on the connection may be the rest of a body that we refused to read.
  if (error.code === 'request_too_large' || error.code === 'malformed_request') {
    void reply.header('connection', 'close');
  }
  void reply
    .code(error.status)
    .header('cache-control', 'no-store')
    .send(presentError(error, request.id));
}

/** What a caller may see of whatever was thrown. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isDatabaseAway(error)) return new ApiError('service_unavailable', { cause: error });
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
      return new ApiError('internal_error', { cause: error });
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
