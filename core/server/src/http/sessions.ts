import {
  CreateSessionRequest,
  IDEMPOTENCY_KEY_PATTERN,
  isModelId,
  LIMITS,
  SPECIFIC_MESSAGES,
} from '@svc-asr/protocol';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify';
import type { Deps } from '../deps.ts';
import { ApiError } from '../platform/api-error.ts';
import { openReservation, presentSession } from '../sessions/new-session.ts';
import { authenticateCaller, callerOf, limitRate } from './guard.ts';
import { isJsonMediaType } from './request-body.ts';
import { describeInvalidParameter } from './session-parameters.ts';

const IDEMPOTENCY_KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN);

/** POST /v1/asr/sessions. The order of the checks is part of the contract (docs/architecture.md). */
export function sessionRoutes(app: FastifyInstance, deps: Deps): void {
  const onRequest = [
    authenticateCaller(deps),
    limitRate('sessions', deps.limiters.sessions, (request) => callerOf(request).accountId),
    requireJson,
  ];
  app.post<{ Body: CreateSessionRequest }>(
    '/v1/asr/sessions',
    {
      onRequest,
      preValidation: requireUsableIdempotencyKey,
      bodyLimit: LIMITS.requestBodyBytes,
      schema: { body: CreateSessionRequest },
      schemaErrorFormatter: describeInvalidParameter,
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { model, max_audio_seconds = LIMITS.audioSecondsDefault } = request.body;
      if (!isModelId(model)) throw new ApiError('model_not_found');
      if (!caller.models.has(model)) throw new ApiError('model_scope_denied');

      const beganMs = performance.now();
      const { session, replayed } = await openReservation(deps, {
        accountId: caller.accountId,
        keyId: caller.keyId,
        model,
        requestedMs: max_audio_seconds * 1000,
        idempotencyKey: idempotencyKeyOf(request),
      });
      request.reserved = {
        sessionId: session.id,
        replayed,
        tookMs: performance.now() - beganMs,
      };
      if (replayed) void reply.header('idempotent-replayed', 'true');
      void reply.code(201).header('cache-control', 'no-store');
      return presentSession(session, deps);
    },
  );
}

function requireJson(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  const { 'content-type': contentType, 'content-encoding': contentEncoding } = request.headers;
  if (!isJsonMediaType(contentType)) throw new ApiError('unsupported_media_type');
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw new ApiError('unsupported_media_type', {
      message: SPECIFIC_MESSAGES.unsupported_media_type.contentEncoding,
      headers: { 'accept-encoding': 'identity' },
    });
  }
  // Fastify rejects media type parameters that it cannot parse. We ignore all of them.
  request.headers['content-type'] = 'application/json';
  done();
}

function requireUsableIdempotencyKey(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  const key = idempotencyKeyOf(request);
  if (key !== null && !IDEMPOTENCY_KEY.test(key)) throw new ApiError('invalid_idempotency_key');
  done();
}

/** Node joins a repeated header with commas, which no valid key contains. */
function idempotencyKeyOf(request: FastifyRequest): string | null {
  const value = request.headers['idempotency-key'];
  return value === undefined ? null : String(value);
}
