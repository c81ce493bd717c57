import {
  CreateSessionRequest,
  IDEMPOTENCY_KEY_PATTERN,
  isModelId,
  LIMITS,
} from '@svc-asr/protocol';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { openReservation, presentSession } from '../new-session.ts';
import { authenticateCaller, callerOf, limitRate } from './guard.ts';
import { isJsonMediaType } from './request-body.ts';

const IDEMPOTENCY_KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN);

/** POST /v1/asr/sessions: who, how often, what kind of body; then may you, can you, do it, show it. */
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
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { model, max_audio_seconds = LIMITS.audioSecondsDefault } = request.body;
      if (!isModelId(model)) throw new ApiError('model_not_found');
      if (!caller.models.has(model)) throw new ApiError('model_scope_denied');

      const { session, replayed } = await openReservation(deps, {
        accountId: caller.accountId,
        keyId: caller.keyId,
        model,
        requestedMs: max_audio_seconds * 1000,
        idempotencyKey: idempotencyKeyOf(request),
      });
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
  if (!isJsonMediaType(request.headers['content-type'])) {
    throw new ApiError('unsupported_media_type');
  }
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

/** A header sent twice arrives joined by a comma, which no valid key holds. */
function idempotencyKeyOf(request: FastifyRequest): string | null {
  const value = request.headers['idempotency-key'];
  return value === undefined ? null : String(value);
}
